//! The schema's versions: what makes each of the one before, on which engine.

use std::borrow::Cow;

/// The migrations in order; the first makes version 1.
pub(crate) const MIGRATIONS: [Migration; 6] = [
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
    /// The tables for that engine, with courses or beside views. CockroachDB knows no collation `C`: its texts are compared by bytes anyway.
    pub(crate) fn tables_for(&self, engine: &str, beside_views: bool) -> Cow<'static, str> {
        let tables = if beside_views { self.views } else { self.tables };
        match is_cockroachdb(engine) {
            true => Cow::Owned(tables.replace(" COLLATE \"C\"", "")),
            false => Cow::Borrowed(tables),
        }
    }
}

/// What a session is told before a migration begins: CockroachDB would commit before each change of a table. Versions that
/// do not know the setting do not do so.
pub(crate) fn before_migration(engine: &str) -> Option<&'static str> {
    is_cockroachdb(engine).then_some("SET autocommit_before_ddl = off")
}

fn is_cockroachdb(engine: &str) -> bool {
    engine.starts_with("CockroachDB")
}

#[cfg(test)]
mod tests {
    use super::*;

    const POSTGRESQL: &str = "PostgreSQL 15.18 (Debian 15.18-0+deb12u1) on x86_64-pc-linux-gnu";
    const YUGABYTEDB: &str = "PostgreSQL 11.2-YB-2.20.0.0-b0 on x86_64-pc-linux-gnu";
    const COCKROACHDB: &str = "CockroachDB CCL v25.1.0 (x86_64-pc-linux-gnu)";

    #[test]
    fn only_cockroachdb_is_spared_the_collation() {
        let collates =
            |engine| MIGRATIONS.iter().any(|migration| migration.tables_for(engine, false).contains("COLLATE \"C\""));
        assert_eq!([POSTGRESQL, YUGABYTEDB, COCKROACHDB].map(collates), [true, true, false]);
        assert!(MIGRATIONS[0].tables_for(COCKROACHDB, false).contains("id       TEXT NOT NULL PRIMARY KEY"));
    }

    #[test]
    fn only_cockroachdb_is_told_to_change_tables_within_a_transaction() {
        let told = [POSTGRESQL, YUGABYTEDB, COCKROACHDB].map(before_migration);
        assert_eq!(told, [None, None, Some("SET autocommit_before_ddl = off")]);
    }
}
