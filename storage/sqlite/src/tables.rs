//! [`Tables`]: a connection that knows how our tables are called in its file.

use std::borrow::Cow;
use std::ops::Deref;

use rusqlite::{CachedStatement, Connection, Params, Row, Statement};

/// The tables that both layouts have. No column has such a name.
pub(crate) const SHARED: [&str; 4] = ["credentials", "credential_events", "sign_ins", "revoked_tokens"];

/// How our tables are called in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Names {
    /// As statements call them: the whole file is ours.
    Plain,
    /// With `catalogue_` before them: the file may be another program's, which has the accounts and courses.
    Prefixed,
}

impl Names {
    /// The statement with the tables' names in this file.
    fn put_into(self, sql: &str) -> Cow<'_, str> {
        match self {
            Self::Plain => Cow::Borrowed(sql),
            Self::Prefixed => Cow::Owned(with_prefix(sql)),
        }
    }
}

fn with_prefix(sql: &str) -> String {
    let is_part_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut text = String::with_capacity(sql.len() + 40);
    let mut rest = sql;
    while let Some(start) = rest.find(is_part_of_name) {
        let (between, from_name) = rest.split_at(start);
        let end = from_name.find(|c| !is_part_of_name(c)).unwrap_or(from_name.len());
        let (name, after) = from_name.split_at(end);
        text.push_str(between);
        if SHARED.contains(&name) {
            text.push_str("catalogue_");
        }
        text.push_str(name);
        rest = after;
    }
    text + rest
}

/// A connection that takes statements on credentials, events, sign-ins and revocations, whatever the tables' names.
pub(crate) struct Tables<'c> {
    connection: &'c Connection,
    names: Names,
}

impl<'c> Tables<'c> {
    pub(crate) fn new(connection: &'c Connection, names: Names) -> Self {
        Self { connection, names }
    }

    /// Whether accounts are in this file. Otherwise views name them, which are asked beforehand.
    pub(crate) fn has_accounts(&self) -> bool {
        self.names == Names::Plain
    }

    pub(crate) fn sql<'s>(&self, sql: &'s str) -> Cow<'s, str> {
        self.names.put_into(sql)
    }

    pub(crate) fn prepare(&self, sql: &str) -> rusqlite::Result<Statement<'c>> {
        self.connection.prepare(&self.sql(sql))
    }

    pub(crate) fn prepare_cached(&self, sql: &str) -> rusqlite::Result<CachedStatement<'c>> {
        self.connection.prepare_cached(&self.sql(sql))
    }

    pub(crate) fn execute(&self, sql: &str, values: impl Params) -> rusqlite::Result<usize> {
        self.connection.execute(&self.sql(sql), values)
    }

    pub(crate) fn query_row<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        self.connection.query_row(&self.sql(sql), values, read)
    }
}

impl Deref for Tables<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_tables_get_the_prefix() {
        let sql = "SELECT credential_id, s.id FROM credential_events AS e, sign_ins AS s WHERE s.kind = 'link'";
        let prefixed = "SELECT credential_id, s.id FROM catalogue_credential_events AS e, catalogue_sign_ins AS s WHERE s.kind = 'link'";
        assert_eq!(Names::Plain.put_into(sql), sql);
        assert_eq!(Names::Prefixed.put_into(sql), prefixed);
        assert_eq!(Names::Prefixed.put_into("DELETE FROM sign_ins"), "DELETE FROM catalogue_sign_ins");
    }
}
