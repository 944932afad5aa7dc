//! `catalogue migrate`

use serde::Serialize;

use super::{Context, block_on};
use crate::cli::MigrateArguments;
use crate::exit::Failure;
use crate::output;

#[derive(Serialize)]
struct Versions {
    from: u32,
    to: u32,
}

pub(super) fn run(arguments: &MigrateArguments, context: &Context) -> Result<(), Failure> {
    let mut database = context.database()?;
    if arguments.without_triggers {
        if !database.is_postgres() {
            return Err(Failure::usage("--without-triggers: SQLite has triggers; leave it out"));
        }
        database = database.with(catalogue_postgres::Options::without_triggers);
    }
    let migrated = block_on(database.migrate())?;
    let versions = Versions { from: migrated.from, to: migrated.to };
    if arguments.json {
        return output::print_json(&versions);
    }
    output::print(&match versions {
        Versions { from, to } if from == to => format!("the schema is up to date: version {to}"),
        Versions { from: 0, to } => format!("a new database was made: schema version {to}"),
        Versions { from, to } => format!("the schema was brought from version {from} to version {to}"),
    })
}
