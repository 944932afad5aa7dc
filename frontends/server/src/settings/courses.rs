//! Where courses are: in tables of ours, or in views over those of another program.

use super::table::{COURSES, COURSES_DATABASE, COURSES_SCHEMA, DATABASE_SCHEMA};
use super::{Setting, Settings};
use crate::database::Database;

/// That database with what is said of its schemas and of where its courses are.
pub(super) fn told_to(database: Database, settings: &Settings) -> Database {
    let (views, schema) = (settings.get(&COURSES), settings.given(&DATABASE_SCHEMA));
    let (theirs, file) = (settings.get(&COURSES_SCHEMA), settings.given(&COURSES_DATABASE));
    let is_postgres = matches!(database, Database::Postgres(_));
    let idle = |setting: &'static Setting, what: &str| {
        if settings.is_given(setting) {
            settings.conflict(&[setting], &what);
        }
    };
    if !views {
        let what = "courses are in tables of this program; write --courses views too, or leave it out";
        idle(&COURSES_SCHEMA, what);
        idle(&COURSES_DATABASE, what);
    }
    if is_postgres && views {
        let what = "views of PostgreSQL are in the database of --database; name their schema with --courses-schema";
        idle(&COURSES_DATABASE, what);
    } else if !is_postgres {
        let what = "SQLite has no schemas; leave it out, or name a database of PostgreSQL with --database";
        idle(&DATABASE_SCHEMA, what);
        idle(&COURSES_SCHEMA, what);
    }
    let database = match schema {
        Some(schema) => database.with(|options| options.schema(&schema)),
        None => database,
    };
    match (database, file) {
        (database @ Database::Postgres(_), _) if views => database.with(|options| options.views(&theirs)),
        (Database::File { path, .. }, courses @ Some(_)) if views => Database::File { path, courses },
        (database, _) if views => {
            let what = "nothing says where the views are, or keys stay; write --courses-database sqlite:PATH for the \
                        views, and --database sqlite:PATH for keys";
            settings.conflict(&[&COURSES], &what);
            database
        }
        (database, _) => database,
    }
}
