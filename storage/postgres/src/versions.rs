//! The schema's versions, and the migration to each.

/// Migrations in order; the first creates version 1.
pub(crate) const MIGRATIONS: [Migration; 1] = [Migration {
    tables: include_str!("../migrations/0001_initial.sql"),
    triggers: include_str!("../migrations/0001_triggers.sql"),
    views: include_str!("../migrations/0001_views.sql"),
}];

/// The schema version that this crate reads and writes.
pub(crate) const SCHEMA_VERSION: u32 = MIGRATIONS.len() as u32;

/// Migration from one version to the next.
#[derive(Clone, Copy)]
pub(crate) struct Migration {
    pub(crate) tables: &'static str,
    /// SQL omitted for engines without triggers; may be empty.
    pub(crate) triggers: &'static str,
    /// SQL instead of `tables` and `triggers` if courses are in views: only the changes to credentials and sign-ins.
    pub(crate) views: &'static str,
}
