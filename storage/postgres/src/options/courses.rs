//! [`Courses`]: the schema of the views that courses are read from, and the schema of the catalogue's own tables.

/// Default schema of the catalogue's own tables if courses are read from views.
const BESIDE_VIEWS: &str = "catalogue";

/// Locations of courses and of the catalogue's own tables.
#[derive(Clone, Debug, Default)]
pub(crate) struct Courses {
    /// Schema of the views; `None` if courses are in the catalogue's own tables.
    pub(crate) views: Option<String>,
    /// Schema of the catalogue's own tables, if configured.
    pub(crate) schema: Option<String>,
}

impl Courses {
    /// Returns the schema of the catalogue's own tables; `None` leaves it to the session's search path.
    pub(crate) fn schema(&self) -> Option<&str> {
        self.schema.as_deref().or(self.views.as_ref().map(|_| BESIDE_VIEWS))
    }

    /// Returns the `search_path` setting that finds the catalogue's own tables, as an entry of a connection's options.
    pub(crate) fn search_path(&self) -> Option<String> {
        let mut setting = String::from("-c search_path=");
        for c in quoted(self.schema()?).chars() {
            // An unescaped space would begin the next option.
            if c == '\\' || c.is_whitespace() {
                setting.push('\\');
            }
            setting.push(c);
        }
        Some(setting)
    }
}

/// Quotes a name as an SQL identifier.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_name_is_quoted_in_search_path() {
        let path = |name: &str| Courses { schema: Some(name.to_owned()), views: None }.search_path().unwrap();
        assert_eq!(path("catalogue"), "-c search_path=\"catalogue\"");
        assert_eq!(path("a b\\c\"d"), "-c search_path=\"a\\ b\\\\c\"\"d\"");
    }

    #[test]
    fn own_tables_default_to_separate_schema_with_views() {
        assert_eq!(Courses::default().schema(), None);
        let views = Courses { views: Some("public".to_owned()), schema: None };
        assert_eq!(views.schema(), Some("catalogue"));
    }
}
