//! The views, and the columns that the API reads from them.

/// The view of accounts.
pub const ACCOUNTS: &str = "catalogue_accounts";
/// The view of courses.
pub const COURSES: &str = "catalogue_courses";
/// The view of modules.
pub const MODULES: &str = "catalogue_modules";
/// The view of revisions, which may be missing.
pub const REVISIONS: &str = "catalogue_revisions";
/// Columns that may be missing: the number of a course's modules, and the name of an account's owner.
pub const OPTIONAL_COLUMNS: [&str; 2] = ["module_count", "name"];

/// Kind of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An account's id.
    Account,
    /// A text.
    Text,
    /// A time.
    Time,
    /// A boolean.
    Boolean,
    /// An integer.
    Integer,
    /// A revision.
    Revision,
}

/// The views with their columns.
pub const VIEWS: [(&str, &[(&str, Kind)]); 4] = [
    (ACCOUNTS, &[("id", Kind::Account), ("name", Kind::Text)]),
    (
        COURSES,
        &[
            ("account_id", Kind::Account),
            ("slug", Kind::Text),
            ("title", Kind::Text),
            ("tagline", Kind::Text),
            ("language", Kind::Text),
            ("created_at", Kind::Time),
            ("published_at", Kind::Time),
            ("hidden", Kind::Boolean),
            ("access_mode", Kind::Text),
            ("module_count", Kind::Integer),
        ],
    ),
    (
        MODULES,
        &[
            ("account_id", Kind::Account),
            ("course_slug", Kind::Text),
            ("number", Kind::Integer),
            ("title", Kind::Text),
            ("summary", Kind::Text),
        ],
    ),
    (REVISIONS, &[("account_id", Kind::Account), ("revision", Kind::Revision)]),
];
