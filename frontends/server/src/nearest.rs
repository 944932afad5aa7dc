//! What somebody may have meant.

/// How alike two names must be to be taken for each other; 1 is the same name.
const ALIKE: f64 = 0.8;

/// The known name that is most like `name`, if any is like it.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let alike = known.map(|known| (strsim::jaro(name, known), known)).filter(|(likeness, _)| *likeness > ALIKE);
    alike.max_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::table::all;

    #[test]
    fn a_slip_is_understood_and_no_more() {
        let known = || all().map(|setting| setting.name);
        for (name, expected) in [
            ("lisen", Some("listen")),
            ("base_url", Some("base-url")),
            ("tls-certificate", Some("tls-cert")),
            ("trusted-proxy", Some("trusted-proxies")),
            ("x", None),
            ("", None),
            ("password", None),
        ] {
            assert_eq!(nearest(name, known()), expected, "{name}");
        }
    }
}
