//! The views, and the columns that the API reads from them.

/// The view of accounts.
pub const ACCOUNTS: &str = "catalogue_accounts";
/// The view of courses.
pub const COURSES: &str = "catalogue_courses";
/// The view of modules.
pub const MODULES: &str = "catalogue_modules";
/// The view of revisions, which may be missing.
pub const REVISIONS: &str = "catalogue_revisions";
/// The column of courses that may be missing.
pub const MODULE_COUNT: &str = "module_count";

/// Kind of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An account's id.
    Account,
    /// A slug, which statements compare.
    Slug,
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
    (ACCOUNTS, &[("id", Kind::Account)]),
    (
        COURSES,
        &[
            ("account_id", Kind::Account),
            ("slug", Kind::Slug),
            ("title", Kind::Text),
            ("tagline", Kind::Text),
            ("language", Kind::Text),
            ("created_at", Kind::Time),
            ("published_at", Kind::Time),
            ("hidden", Kind::Boolean),
            ("access_mode", Kind::Text),
            (MODULE_COUNT, Kind::Integer),
        ],
    ),
    (
        MODULES,
        &[
            ("account_id", Kind::Account),
            ("course_slug", Kind::Slug),
            ("number", Kind::Integer),
            ("title", Kind::Text),
            ("summary", Kind::Text),
        ],
    ),
    (REVISIONS, &[("account_id", Kind::Account), ("revision", Kind::Revision)]),
];
