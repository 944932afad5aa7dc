//! Suggestions for misspelled names.

/// Minimum similarity of a suggestion; 1 means equal.
const MIN_SIMILARITY: f64 = 0.8;

/// Returns the known name that is most similar to `name`, if any is similar enough.
pub(crate) fn closest_match<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let candidates =
        known.map(|known| (strsim::jaro(name, known), known)).filter(|(similarity, _)| *similarity > MIN_SIMILARITY);
    candidates.max_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::table::all;

    #[test]
    fn only_similar_names_are_suggested() {
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
            assert_eq!(closest_match(name, known()), expected, "{name}");
        }
    }
}
