//! [`check`]: reports privileges that the role has and does not need.

use catalogue_core::storage::{StorageError, ViewAdvice};
use tokio_postgres::types::Type;

use super::Views;
use super::freshness::VIEWS;
use crate::connection::Sql;
use crate::rows::get;

/// Name and attributes of the role; name of the database, and whether the role may create schemas.
const ROLE: Sql = Sql {
    text: "SELECT quote_ident(CAST(rolname AS TEXT)), rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls, \
           quote_ident(CAST(current_database() AS TEXT)), has_database_privilege(current_database(), 'CREATE') \
           FROM pg_catalog.pg_roles WHERE rolname = current_user",
    types: &[],
};

/// Roles that the role can switch to for attributes or privileges that it does not inherit, each with one of its members.
const MEMBERSHIPS: Sql = Sql {
    text: "SELECT quote_ident(CAST(r.rolname AS TEXT)), quote_ident(CAST(h.rolname AS TEXT)) \
           FROM pg_catalog.pg_auth_members AS m JOIN pg_catalog.pg_roles AS r ON r.oid = m.roleid \
           JOIN pg_catalog.pg_roles AS h ON h.oid = m.member WHERE pg_has_role(h.oid, 'MEMBER') AND (r.rolsuper \
           OR r.rolcreaterole OR r.rolcreatedb OR r.rolreplication OR r.rolbypassrls OR NOT pg_has_role(r.oid, 'USAGE')) \
           ORDER BY 1, 2 LIMIT 10",
    types: &[],
};

/// Other programs' tables, views and sequences that the role may change, or may read although they are not the API's views.
const RELATIONS: Sql = Sql {
    text: "SELECT name, may_write, is_sequence FROM ( \
           SELECT quote_ident(CAST(n.nspname AS TEXT)) || '.' || quote_ident(CAST(c.relname AS TEXT)) AS name, \
           n.nspname = $1 AND c.relname = ANY($2) AS is_view, \
           c.relkind = 'S' AS is_sequence, \
           CASE WHEN c.relkind = 'S' THEN has_sequence_privilege(c.oid, 'USAGE, UPDATE') ELSE \
           has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER') \
           OR has_any_column_privilege(c.oid, 'INSERT, UPDATE, REFERENCES') END AS may_write, \
           has_any_column_privilege(c.oid, 'SELECT') AS may_read \
           FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace \
           WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND n.nspname <> current_schema() \
           AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND CAST(n.nspname AS TEXT) NOT LIKE 'pg\\_%') AS found \
           WHERE may_write OR (may_read AND NOT is_view) ORDER BY may_write DESC, name LIMIT 10",
    types: &[Type::NAME, Type::TEXT_ARRAY],
};

/// Other programs' schemas that the role may create tables in.
const SCHEMAS: Sql = Sql {
    text: "SELECT quote_ident(CAST(nspname AS TEXT)) FROM pg_catalog.pg_namespace \
           WHERE nspname <> current_schema() AND CAST(nspname AS TEXT) NOT LIKE 'pg\\_%' \
           AND nspname <> 'information_schema' AND has_schema_privilege(oid, 'CREATE') ORDER BY 1 LIMIT 10",
    types: &[],
};

pub(crate) async fn check(views: &Views) -> Result<Vec<ViewAdvice>, StorageError> {
    let connection = views.connection().await?;
    let query = async |sql, values| connection.query(sql, values).await;
    let role = query(&ROLE, &[]).await?;
    let Some(role) = role.first() else { return Ok(Vec::new()) };
    let name: &str = get(role, 0)?;
    let advice = |subject: &str, finding, fix| ViewAdvice { subject: subject.to_owned(), finding, fix: Some(fix) };
    let about = format!("role {name}");
    if get(role, 1)? {
        // This attribute implies all others.
        let remedy = "use a dedicated role (see the README of catalogue-postgres)".to_owned();
        return Ok(vec![advice(&about, "it is a superuser".to_owned(), remedy)]);
    }
    let mut found = Vec::new();
    for (column, attribute) in (2..).zip(["CREATEROLE", "CREATEDB", "REPLICATION", "BYPASSRLS"]) {
        if get(role, column)? {
            found.push(advice(&about, format!("it has {attribute}"), format!("ALTER ROLE {name} NO{attribute}")));
        }
    }
    for row in query(&MEMBERSHIPS, &[]).await? {
        let (other, member): (&str, &str) = (get(&row, 0)?, get(&row, 1)?);
        found.push(advice(&about, format!("it may become role {other}"), format!("REVOKE {other} FROM {member}")));
    }
    if get(role, 7)? {
        let database: &str = get(role, 6)?;
        let remedy = format!("REVOKE CREATE ON DATABASE {database} FROM {name}");
        found.push(advice(&about, "it may create schemas".to_owned(), remedy));
    }
    for row in query(&SCHEMAS, &[]).await? {
        let schema: &str = get(&row, 0)?;
        let remedy = format!("REVOKE CREATE ON SCHEMA {schema} FROM {name}, PUBLIC");
        found.push(advice(&format!("schema {schema}"), format!("role {name} may create tables in it"), remedy));
    }
    for row in query(&RELATIONS, &[&views.schema, &VIEWS]).await? {
        let (relation, may_write): (&str, bool) = (get(&row, 0)?, get(&row, 1)?);
        let does = if may_write { "change" } else { "read" };
        let rights = match (get(&row, 2)?, may_write) {
            (true, _) => "ALL ON SEQUENCE",
            (false, true) => "INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER ON",
            (false, false) => "SELECT ON",
        };
        let remedy = format!("REVOKE {rights} {relation} FROM {name}, PUBLIC");
        found.push(advice(relation, format!("role {name} may {does} it"), remedy));
    }
    Ok(found)
}
