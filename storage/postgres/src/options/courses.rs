//! [`Courses`]: whose tables courses are read from, and which schema has ours.

/// Ours where nothing is said and courses are another program's.
const BESIDE_VIEWS: &str = "catalogue";

/// Where courses and our tables are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Courses {
    /// The schema of the views; courses are in our tables where there is none.
    pub(crate) views: Option<String>,
    /// That of our tables, where it is said.
    pub(crate) schema: Option<String>,
}

impl Courses {
    /// The schema of our tables; `None` leaves it to the session's search path.
    pub(crate) fn schema(&self) -> Option<&str> {
        self.schema.as_deref().or(self.views.as_ref().map(|_| BESIDE_VIEWS))
    }

    /// The setting of a session that finds our tables, as it stands in the options of a connection.
    pub(crate) fn search_path(&self) -> Option<String> {
        let mut setting = String::from("-c search_path=");
        for c in quoted(self.schema()?).chars() {
            // A blank would begin the next option.
            if c == '\\' || c.is_whitespace() {
                setting.push('\\');
            }
            setting.push(c);
        }
        Some(setting)
    }
}

/// A name as statements have it.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_has_any_name() {
        let path = |name: &str| Courses { schema: Some(name.to_owned()), views: None }.search_path().unwrap();
        assert_eq!(path("catalogue"), "-c search_path=\"catalogue\"");
        assert_eq!(path("a b\\c\"d"), "-c search_path=\"a\\ b\\\\c\"\"d\"");
    }

    #[test]
    fn ours_are_beside_views_in_a_schema_of_their_own() {
        assert_eq!(Courses::default().schema(), None);
        let views = Courses { views: Some("public".to_owned()), schema: None };
        assert_eq!(views.schema(), Some("catalogue"));
    }
}
