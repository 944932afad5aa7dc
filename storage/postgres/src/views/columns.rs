//! [`Columns`]: which columns the views have, of which types, and what of them cannot be read.

use std::collections::HashMap;

use catalogue_core::storage::{StorageError, ViewFault};
use tokio_postgres::types::Type;

use crate::connection::{Connection, Sql};
use crate::rows::get;

pub(crate) const ACCOUNTS: &str = "catalogue_accounts";
pub(crate) const COURSES: &str = "catalogue_courses";
pub(crate) const MODULES: &str = "catalogue_modules";
pub(crate) const REVISIONS: &str = "catalogue_revisions";

/// A column of a domain has the type below it, however many domains lie between.
const FOUND: Sql = Sql {
    text: "SELECT CAST(c.relname AS TEXT), \
           has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT'), \
           CAST(a.attname AS TEXT), CAST(t.typcategory AS TEXT), CAST(b.typname AS TEXT), \
           format_type(a.atttypid, a.atttypmod), \
           quote_ident(CAST(s.nspname AS TEXT)) || '.' || quote_ident(CAST(l.collname AS TEXT)), l.collisdeterministic, \
           quote_ident(CAST(n.nspname AS TEXT)), quote_ident(CAST(current_user AS TEXT)) \
           FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace \
           LEFT JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped \
           LEFT JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid \
           LEFT JOIN LATERAL (WITH RECURSIVE below AS (SELECT t.typname, t.typbasetype UNION ALL SELECT d.typname, d.typbasetype \
           FROM below JOIN pg_catalog.pg_type AS d ON d.oid = below.typbasetype) \
           SELECT typname FROM below WHERE typbasetype = 0) AS b ON TRUE \
           LEFT JOIN pg_catalog.pg_collation AS l ON l.oid = a.attcollation \
           LEFT JOIN pg_catalog.pg_namespace AS s ON s.oid = l.collnamespace \
           WHERE n.nspname = $1 AND c.relname = ANY($2) AND c.relkind IN ('v', 'm', 'r', 'p', 'f')",
    types: &[Type::NAME, Type::TEXT_ARRAY],
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// An account's id or a slug, which is compared.
    Key,
    Text,
    Time,
    Boolean,
    Integer,
    Revision,
}

const WANTED: [(&str, &[(&str, Kind)]); 4] = [
    (ACCOUNTS, &[("id", Kind::Key)]),
    (
        COURSES,
        &[
            ("account_id", Kind::Key),
            ("slug", Kind::Key),
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
            ("account_id", Kind::Key),
            ("course_slug", Kind::Key),
            ("number", Kind::Integer),
            ("title", Kind::Text),
            ("summary", Kind::Text),
        ],
    ),
    (REVISIONS, &[("account_id", Kind::Key), ("revision", Kind::Revision)]),
];

/// The one column that may be missing.
const MODULE_COUNT: &str = "module_count";

/// Of which type a column must be.
pub(crate) fn wanted(view: &str, name: &str) -> &'static str {
    let mut columns = WANTED.iter().filter(|(of, _)| *of == view).flat_map(|(_, columns)| *columns);
    columns.find(|(column, _)| *column == name).map_or("another value", |(_, kind)| kind.noun())
}

/// The columns that were found, by view and name.
#[derive(Debug)]
pub(crate) struct Columns(HashMap<(&'static str, &'static str), Column>);

#[derive(Debug)]
struct Column {
    /// The type's own name, that below a domain.
    base: String,
    /// The name of its collation; empty where it has none.
    collation: String,
}

impl Columns {
    /// Looks at the views of that schema, and says what of them cannot be read.
    pub(crate) async fn look(connection: &Connection, schema: &str) -> Result<(Self, Vec<ViewFault>), StorageError> {
        let names: Vec<&str> = WANTED.iter().map(|(view, _)| *view).collect();
        let rows = connection.query(&FOUND, &[&schema, &names]).await?;
        let (mut columns, mut faults) = (Self(HashMap::new()), Vec::new());
        for (view, wanted) in WANTED {
            let mut found = HashMap::new();
            let (mut is_there, mut unreadable_as) = (false, None);
            for row in &rows {
                if get::<&str>(row, 0)? == view {
                    is_there = true;
                    let names: (&str, &str) = (get(row, 8)?, get(row, 9)?);
                    unreadable_as = (!get::<bool>(row, 1)?).then_some(names);
                    found.insert(get::<Option<&str>>(row, 2)?.unwrap_or_default(), row);
                }
            }
            let mut fault = |what: String, wanted: String| faults.push(ViewFault { view, key: None, what, wanted });
            if !is_there {
                if view != REVISIONS {
                    let names: Vec<_> = wanted.iter().map(|(name, _)| *name).collect();
                    let what = format!("the schema {schema:?} has no view of this name");
                    fault(what, format!("make it with the columns {}", names.join(", ")));
                }
                continue;
            }
            if let Some((schema, role)) = unreadable_as {
                let grant =
                    format!("GRANT USAGE ON SCHEMA {schema} TO {role}; GRANT SELECT ON {schema}.{view} TO {role}");
                fault("the role may not read it".to_owned(), grant);
            }
            for (name, kind) in wanted {
                let Some(row) = found.get(name) else {
                    if *name != MODULE_COUNT {
                        fault(format!("it has no column `{name}`"), format!("add it: {}", kind.noun()));
                    }
                    continue;
                };
                let (category, base): (&str, &str) = (get(row, 3)?, get(row, 4)?);
                if !kind.is_read_from(category, base) {
                    let shown: &str = get(row, 5)?;
                    fault(format!("the column `{name}` is of the type {shown}"), kind.remedy(name));
                } else if *kind == Kind::Key && get::<Option<bool>>(row, 7)? == Some(false) {
                    let what = format!("the column `{name}` takes different texts for the same by its collation");
                    fault(what, format!("write {name} COLLATE \"C\" in the view"));
                }
                let collation = get::<Option<&str>>(row, 6)?.unwrap_or_default().to_owned();
                columns.0.insert((view, name), Column { base: base.to_owned(), collation });
            }
        }
        Ok((columns, faults))
    }

    /// The type of `created_at`, as a value is bound to be compared with it.
    pub(crate) fn created_at(&self) -> Type {
        match self.0.get(&(COURSES, "created_at")).map(|column| &*column.base) {
            Some("timestamptz") => Type::TIMESTAMPTZ,
            Some("timestamp") => Type::TIMESTAMP,
            _ => Type::INT8,
        }
    }

    pub(crate) fn has_module_count(&self) -> bool {
        self.0.contains_key(&(COURSES, MODULE_COUNT))
    }

    pub(crate) fn has_revisions(&self) -> bool {
        self.0.contains_key(&(REVISIONS, "revision"))
    }

    /// `COLLATE …` of that column's own, for what it is compared with: by another an index of it would not serve.
    pub(crate) fn collate(&self, view: &'static str, column: &'static str) -> String {
        let collation = self.0.get(&(view, column)).map_or("", |column| &column.collation);
        if collation.is_empty() { String::new() } else { format!(" COLLATE {collation}") }
    }

    /// Whether an index of the column itself serves where it is compared as text.
    pub(crate) fn is_text(&self, view: &'static str, column: &'static str) -> bool {
        self.0.get(&(view, column)).is_some_and(|column| ["text", "varchar"].contains(&&*column.base))
    }
}

impl Kind {
    fn is_read_from(self, category: &str, base: &str) -> bool {
        match self {
            // `text`, `varchar`, `char`, `citext` and such.
            Self::Key | Self::Text => category == "S",
            Self::Time => ["timestamptz", "timestamp", "int8"].contains(&base),
            Self::Boolean => base == "bool",
            Self::Integer => ["int2", "int4", "int8"].contains(&base),
            Self::Revision => ["uuid", "bytea"].contains(&base),
        }
    }

    fn noun(self) -> &'static str {
        match self {
            Self::Key | Self::Text => "a text",
            Self::Time => "a timestamptz, a timestamp (read as UTC), or a bigint (microseconds since 1970)",
            Self::Boolean => "a boolean",
            Self::Integer => "an integer",
            Self::Revision => "a uuid, or a bytea of 16 bytes",
        }
    }

    /// What to do about a column of that name and another type.
    fn remedy(self, name: &str) -> String {
        let noun = self.noun();
        match self {
            Self::Key | Self::Text => format!("make it {noun}: CAST({name} AS TEXT)"),
            Self::Boolean => format!("make it {noun}: CAST({name} AS BOOLEAN)"),
            Self::Integer => format!("make it {noun}: CAST({name} AS BIGINT)"),
            Self::Time | Self::Revision => format!("make it {noun}"),
        }
    }
}
