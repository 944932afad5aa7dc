//! The schema's versions: what makes each of the one before.

/// The migrations in order; the first makes version 1.
pub(crate) const MIGRATIONS: [Migration; 1] = [Migration {
    tables: include_str!("../migrations/0001_initial.sql"),
    triggers: include_str!("../migrations/0001_triggers.sql"),
    views: include_str!("../migrations/0001_views.sql"),
}];

/// The schema version that this crate reads and writes.
pub(crate) const SCHEMA_VERSION: u32 = MIGRATIONS.len() as u32;

/// One step from a version to the next.
#[derive(Clone, Copy)]
pub(crate) struct Migration {
    pub(crate) tables: &'static str,
    /// What engines without triggers leave out; empty where a migration has none.
    pub(crate) triggers: &'static str,
    /// In the place of both where courses are in views: what it changes of credentials and sign-ins.
    pub(crate) views: &'static str,
}
