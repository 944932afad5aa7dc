//! The schema's versions: what makes each of the one before.

/// The migrations in order; the first makes version 1.
pub(crate) const MIGRATIONS: [Migration; 7] = [
    Migration {
        tables: include_str!("../migrations/0001_initial.sql"),
        triggers: include_str!("../migrations/0001_triggers.sql"),
        views: "",
    },
    Migration { tables: include_str!("../migrations/0002_last_use.sql"), triggers: "", views: "" },
    Migration { tables: include_str!("../migrations/0003_successors.sql"), triggers: "", views: "" },
    Migration { tables: "", triggers: include_str!("../migrations/0004_trigger_search_path.sql"), views: "" },
    Migration {
        tables: include_str!("../migrations/0005_settings.sql"),
        triggers: include_str!("../migrations/0005_settings_triggers.sql"),
        views: "",
    },
    Migration {
        tables: include_str!("../migrations/0006_revoked_tokens.sql"),
        triggers: "",
        views: include_str!("../migrations/0006_views.sql"),
    },
    // Nothing to do: a table that SQLite's readers ask. The number keeps step with SQLite.
    Migration { tables: "", triggers: "", views: "" },
];

/// The schema version that this crate reads and writes.
pub(crate) const SCHEMA_VERSION: u32 = MIGRATIONS.len() as u32;

/// One step from a version to the next.
pub(crate) struct Migration {
    tables: &'static str,
    /// What engines without triggers leave out; empty where a migration has none.
    pub(crate) triggers: &'static str,
    /// In the place of both where courses are in views. The first six are one step there; a later one says here what it
    /// changes of credentials and sign-ins, and nothing where it is about courses.
    views: &'static str,
}

impl Migration {
    /// The tables with courses, or those beside views.
    pub(crate) fn tables(&self, beside_views: bool) -> &'static str {
        if beside_views { self.views } else { self.tables }
    }
}
