//! [`Columns`]: the columns of the views, their types, and which of them cannot be read.

use std::collections::HashMap;

use catalogue_core::storage::StorageError;
use catalogue_core::storage::views::{ACCOUNTS, COURSES, Kind, OPTIONAL_COLUMNS, REVISIONS, VIEWS, ViewProblem};
use tokio_postgres::types::Type;

use crate::connection::{Connection, Sql};
use crate::rows::get;

/// Views, their columns, types and collations, and the names for a `GRANT`. Of nested domains, the innermost base type.
const VIEW_COLUMNS: Sql = Sql {
    text: "SELECT CAST(c.relname AS TEXT), \
           has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT'), \
           CAST(a.attname AS TEXT), CAST(t.typcategory AS TEXT), CAST(b.typname AS TEXT), \
           format_type(a.atttypid, a.atttypmod), \
           quote_ident(CAST(s.nspname AS TEXT)) || '.' || quote_ident(CAST(l.collname AS TEXT)), \
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

/// The columns found, by view and name.
#[derive(Debug)]
pub(crate) struct Columns(HashMap<(&'static str, &'static str), Column>);

#[derive(Debug)]
struct Column {
    /// Name of the type; of a domain, that of its base type.
    base: String,
    /// Name of the collation; empty if there is none.
    collation: String,
}

impl Columns {
    /// Reads the columns of the views in `schema`. Returns them, and the problems of views and columns that cannot be read.
    pub(crate) async fn read(connection: &Connection, schema: &str) -> Result<(Self, Vec<ViewProblem>), StorageError> {
        let names: Vec<&str> = VIEWS.iter().map(|(view, _)| *view).collect();
        let rows = connection.query(&VIEW_COLUMNS, &[&schema, &names]).await?;
        let (mut columns, mut problems) = (Self(HashMap::new()), Vec::new());
        for (view, wanted) in VIEWS {
            let mut found = HashMap::new();
            let (mut exists, mut unreadable_as) = (false, None);
            for row in &rows {
                if get::<&str>(row, 0)? == view {
                    exists = true;
                    let names: (&str, &str) = (get(row, 7)?, get(row, 8)?);
                    unreadable_as = (!get::<bool>(row, 1)?).then_some(names);
                    found.insert(get::<Option<&str>>(row, 2)?.unwrap_or_default(), row);
                }
            }
            let mut add = |problem, expected| problems.push(ViewProblem { view, key: None, problem, expected });
            if !exists {
                if view != REVISIONS {
                    let names: Vec<_> = wanted.iter().map(|(name, _)| *name).collect();
                    let what = format!("schema {schema:?} has no such view");
                    add(what, format!("create it with the columns {}", names.join(", ")));
                }
                continue;
            }
            if let Some((schema, role)) = unreadable_as {
                let grant =
                    format!("GRANT USAGE ON SCHEMA {schema} TO {role}; GRANT SELECT ON {schema}.{view} TO {role}");
                add("the role may not read it".to_owned(), grant);
            }
            for (name, kind) in wanted {
                let (types, description, cast) = accepted_types(*kind);
                let Some(row) = found.get(name) else {
                    if !OPTIONAL_COLUMNS.contains(name) {
                        add(format!("it has no column `{name}`"), format!("add it as {description}"));
                    }
                    continue;
                };
                let (category, base): (&str, &str) = (get(row, 3)?, get(row, 4)?);
                if !(types.contains(&base) || category == "S" && cast == Some("TEXT")) {
                    let actual: &str = get(row, 5)?;
                    let cast = cast.map_or_else(String::new, |ty| format!(": CAST({name} AS {ty})"));
                    add(format!("column `{name}` has type {actual}"), format!("change it to {description}{cast}"));
                }
                let collation = get::<Option<&str>>(row, 6)?.unwrap_or_default().to_owned();
                columns.0.insert((view, name), Column { base: base.to_owned(), collation });
            }
        }
        Ok((columns, problems))
    }

    /// Returns the type of `created_at`, for binding times that are compared with it.
    pub(crate) fn created_at(&self) -> Type {
        match self.0.get(&(COURSES, "created_at")).map(|column| &*column.base) {
            Some("timestamptz") => Type::TIMESTAMPTZ,
            Some("timestamp") => Type::TIMESTAMP,
            _ => Type::INT8,
        }
    }

    pub(crate) fn has_module_count(&self) -> bool {
        self.0.contains_key(&(COURSES, "module_count"))
    }

    /// Returns SQL for the name of an account's owner, which is empty if the view has no names.
    pub(crate) fn name(&self) -> &'static str {
        if self.0.contains_key(&(ACCOUNTS, "name")) { "coalesce(CAST(a.name AS TEXT), '')" } else { "''" }
    }

    pub(crate) fn has_revisions(&self) -> bool {
        self.0.contains_key(&(REVISIONS, "revision"))
    }

    /// Returns both sides of a comparison that can use an index of the column: the column, with the prefix `alias`, and
    /// `text` (SQL for an account id or slug), cast to the column's type. The cast is null for a text that PostgreSQL would
    /// write differently, such as `012`.
    pub(crate) fn compared(&self, alias: &str, view: &'static str, name: &'static str, text: &str) -> [String; 2] {
        let (base, collation) = self.0.get(&(view, name)).map_or(("", ""), |column| (&column.base, &column.collation));
        let key = format!("{alias}{name}");
        let cast = |form: &str, ty: &str| format!("CASE WHEN {text} ~ '^{form}$' THEN CAST({text} AS {ty}) END");
        match base {
            // 19 digits that begin with a 9 may be too large for a bigint.
            "int2" | "int4" | "int8" => [key, cast("(0|-?([1-9][0-9]{0,17}|[1-8][0-9]{18}))", "BIGINT")],
            "uuid" => [key, cast("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UUID")],
            _ if collation.is_empty() => [format!("CAST({key} AS TEXT)"), text.to_owned()],
            // With another collation, an index of the column could not be used.
            _ => [format!("CAST({key} AS TEXT)"), format!("{text} COLLATE {collation}")],
        }
    }
}

/// Returns the types that a column of `kind` is read from, their description, and the type that others can be cast to. If
/// that type is text, all string types are read too, such as `varchar`, `char` and `citext`.
fn accepted_types(kind: Kind) -> (&'static [&'static str], &'static str, Option<&'static str>) {
    const TIMES: &str = "a timestamptz, a timestamp (read as UTC), or a bigint (microseconds since 1970)";
    match kind {
        Kind::Account => (&["int2", "int4", "int8", "uuid"], "a text, an integer or a uuid", Some("TEXT")),
        Kind::Text => (&[], "a text", Some("TEXT")),
        Kind::Time => (&["timestamptz", "timestamp", "int8"], TIMES, None),
        Kind::Boolean => (&["bool"], "a boolean", Some("BOOLEAN")),
        Kind::Integer => (&["int2", "int4", "int8"], "an integer", Some("BIGINT")),
        Kind::Revision => (&["uuid", "bytea"], "a uuid, or a bytea of 16 bytes", None),
    }
}
