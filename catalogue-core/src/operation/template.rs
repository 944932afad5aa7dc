//! [`Template`]: a path of the table, split at its parameter when the program is built, as every request is compared with it.

/// A path in which one segment may be a `{parameter}`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Template {
    /// The whole path, or what stands before the parameter.
    before: &'static str,
    /// What stands behind the parameter, if there is one.
    after: Option<&'static str>,
}

impl Template {
    pub(super) const fn of(path: &'static str) -> Self {
        let Some(open) = place(path, b'{') else { return Self { before: path, after: None } };
        let close = place(path, b'}').expect("a parameter ends with a brace");
        Self { before: path.split_at(open).0, after: Some(path.split_at(close + 1).1) }
    }

    /// The parameter as it stands in `path`, where it is not empty; nothing where there is none. `None` where `path` is another.
    pub(super) fn matches<'r>(&self, path: &'r str) -> Option<&'r str> {
        let Some(after) = self.after else {
            return (self.before == path).then_some("");
        };
        let segment = path.strip_prefix(self.before)?.strip_suffix(after)?;
        (!segment.is_empty() && !segment.contains('/')).then_some(segment)
    }
}

const fn place(path: &str, byte: u8) -> Option<usize> {
    let mut at = 0;
    while at < path.len() {
        if path.as_bytes()[at] == byte {
            return Some(at);
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_stands_at_any_place() {
        for (path, segment) in [
            ("/courses/a/modules", Some("a")),
            ("/courses/a%2Fb/modules", Some("a%2Fb")),
            ("/courses/modules/modules", Some("modules")),
            ("/courses//modules", None),
            ("/courses/modules", None),
            ("/courses/a/b/modules", None),
            ("/courses/a/modules/", None),
            ("/courses/a", None),
        ] {
            assert_eq!(Template::of("/courses/{slug}/modules").matches(path), segment, "{path}");
        }
    }
}
