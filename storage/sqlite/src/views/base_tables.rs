//! What a view tells of the tables behind it, as far as indexes need it: a `SELECT` of columns from tables that are joined.

use std::collections::HashMap;

use super::instant;
use super::read::ACCOUNTS;
use super::tokens::{is, is_name, position, split, tokens};

/// A view over base tables.
pub(super) struct View {
    /// The expression of each column.
    columns: HashMap<String, Expression>,
    tables: Vec<Table>,
    /// It leaves rows out, so what is unique in it may not be in the table.
    is_filtered: bool,
}

struct Expression {
    /// The table's name in the view; `None` where it is of no table or of several.
    of: Option<usize>,
    /// Without the table's name.
    sql: String,
    /// The same for all rows.
    is_constant: bool,
}

/// An index that may help.
pub(super) struct Index {
    /// All of its statement but the last bracket.
    sql: String,
    /// The table, where it has the order of a list.
    pub(super) lists: Option<String>,
}

struct Table {
    name: String,
    alias: String,
    /// The columns that join it to others.
    joined_by: Vec<String>,
}

impl View {
    /// The view of that `CREATE VIEW`, if it is so simple.
    pub(super) fn parse(sql: &str) -> Option<Self> {
        let tokens = tokens(sql);
        let start = position(&tokens, &["select"])? + 1;
        let from = start + position(&tokens[start..], &["from"])?;
        let tail = &tokens[from + 1..];
        let source = &tail[..position(tail, &["where", "order", "limit"]).unwrap_or(tail.len())];
        if position(&tokens, &["union", "except", "intersect", "group", "with"]).is_some()
            || is(tokens[start], "distinct")
        {
            return None;
        }
        let mut tables = tables(source)?;
        join(&mut tables, tail);
        let items = split(&tokens[start..from]);
        let mut columns: HashMap<_, _> = items.iter().filter_map(|item| column(item, &tables)).collect();
        // `CREATE VIEW name (columns) AS`.
        let named = tokens[..start].iter().skip_while(|token| **token != "(").filter(|token| is_name(token));
        for (name, item) in named.zip(&items) {
            columns.extend(column(item, &tables).map(|(_, expression)| (name.to_ascii_lowercase(), expression)));
        }
        let is_filtered = position(tail, &["where"]).is_some();
        Some(Self { columns, tables, is_filtered })
    }

    fn is_of_one_account(&self) -> bool {
        self.columns.get("account_id").is_some_and(|known| known.is_constant)
    }

    /// The names that its tables have in a plan, where it names the account of all its rows itself.
    pub(super) fn tables_of_one_account(&self) -> Vec<String> {
        let tables = self.tables.iter().filter(|_| self.is_of_one_account());
        tables.map(|table| table.alias.trim_matches(['"', '`', '[', ']']).to_owned()).collect()
    }

    /// Indexes that may find rows by those columns, and where it is said, in the order of a list.
    pub(super) fn candidates(&self, view: &str, found_by: &[&str], in_order: bool) -> Vec<Index> {
        // An id is one account's. Of a join with one row SQLite knows that it keeps the order.
        let key_index = if view == ACCOUNTS && !self.is_filtered { "UNIQUE INDEX" } else { "INDEX" };
        let mut candidates = Vec::new();
        for (number, table) in self.tables.iter().enumerate() {
            let own = |column: &&str| {
                self.columns.get(*column).filter(|known| known.of == Some(number) && !known.is_constant)
            };
            let key = |column: &&str| {
                let collation = if column.ends_with("slug") { " COLLATE BINARY" } else { "" };
                own(column).map(|known| format!("{}{collation}", known.sql))
            };
            let keys: Vec<String> = found_by.iter().filter_map(key).collect();
            let order = ["created_at", "slug"].map(|column| own(&column));
            if let ([Some(created_at), Some(slug)], true) = (order, in_order) {
                // Whatever is no column has a collation where a view is read, and the index must have it too.
                let is_column = !created_at.sql.contains([' ', '(']);
                let time =
                    if is_column { created_at.sql.clone() } else { format!("({}) COLLATE BINARY", created_at.sql) };
                let order = format!("{}, {} COLLATE BINARY", instant::of(&time), slug.sql);
                let list = |first: String| table.index("INDEX", view, "list", &format!("{first}{order}"));
                let by = own(&"account_id").map(|known| known.sql.as_str());
                let joined = table.joined_by.iter().map(String::as_str);
                candidates.extend(by.into_iter().chain(joined).map(|first| list(format!("{first}, "))));
                candidates.extend(self.is_of_one_account().then(|| list(String::new())));
            }
            if !keys.is_empty() {
                candidates.push(table.index(key_index, view, "key", &keys.join(", ")));
            }
            for joined in &table.joined_by {
                let columns: Vec<&str> = [joined].into_iter().chain(&keys).map(String::as_str).collect();
                candidates.push(table.index("INDEX", view, "join", &columns.join(", ")));
            }
        }
        candidates
    }
}

impl Index {
    /// Its statement, with those columns after its own.
    pub(super) fn with(&self, columns: &[String]) -> String {
        let columns = columns.iter().map(|column| format!(", {column}"));
        format!("{}{})", self.sql, columns.collect::<String>())
    }
}

impl Table {
    fn index(&self, kind: &str, view: &str, purpose: &str, columns: &str) -> Index {
        let (name, of) = (self.name.trim_matches(['"', '`', '[', ']']), view.replace("catalogue_", ""));
        Index {
            sql: format!("CREATE {kind} \"{name}_by_{of}_{purpose}\" ON {} ({columns}", self.name),
            lists: (purpose == "list").then(|| self.name.clone()),
        }
    }
}

/// The tables of a `FROM`, if it has no others.
fn tables(source: &[&str]) -> Option<Vec<Table>> {
    const NO_ALIAS: [&str; 8] = ["on", "join", "inner", "left", "cross", "natural", "using", "indexed"];

    let mut tables = Vec::new();
    for (at, token) in source.iter().enumerate() {
        if at > 0 && !is(token, "join") && *token != "," {
            continue;
        }
        let at = if at == 0 { 0 } else { at + 1 };
        let name = *source.get(at).filter(|name| is_name(name))?;
        let next = source.get(at + 1).copied();
        let alias = if next.is_some_and(|next| is(next, "as")) { source.get(at + 2).copied() } else { next };
        let alias = alias.filter(|alias| is_name(alias) && !NO_ALIAS.iter().any(|word| is(alias, word)));
        tables.push(Table { name: name.to_owned(), alias: alias.unwrap_or(name).to_owned(), joined_by: Vec::new() });
    }
    Some(tables)
}

/// Notes each `a.x = b.y`.
fn join(tables: &mut [Table], tokens: &[&str]) {
    for window in tokens.windows(7) {
        let [a, ".", x, "=", b, ".", y] = window else { continue };
        for (alias, column) in [(a, x), (b, y)] {
            let joined = tables.iter_mut().filter(|table| is(&table.alias, alias));
            joined.for_each(|table| table.joined_by.push((*column).to_owned()));
        }
    }
}

/// The name of a column of the view, and its expression.
fn column(item: &[&str], tables: &[Table]) -> Option<(String, Expression)> {
    let (name, mut expression) = item.split_last()?;
    match expression {
        [.., last] if is(last, "as") => expression = &expression[..expression.len() - 1],
        // A column under its own name.
        [] | [.., "."] => expression = item,
        _ => {}
    }
    let mut of: Vec<usize> = Vec::new();
    let mut words = Vec::new();
    let mut rest = expression;
    while let Some((first, after)) = rest.split_first() {
        let table = tables.iter().position(|table| is(&table.alias, first)).filter(|_| after.first() == Some(&"."));
        if let Some(table) = table {
            of.push(table);
            rest = &after[1..];
        } else {
            words.push(*first);
            rest = after;
        }
    }
    let is_of_cast = |word: &str| ["cast", "as", "text"].iter().any(|of| is(word, of));
    let has_literal = words.iter().any(|word| word.starts_with(|c: char| c == '\'' || c.is_ascii_digit()));
    let is_constant = of.is_empty() && has_literal && words.iter().all(|word| !is_name(word) || is_of_cast(word));
    let of = if tables.len() == 1 {
        Some(0)
    } else {
        of.first().copied().filter(|first| of.iter().all(|table| table == first))
    };
    let sql = words.join(" ").replace("( ", "(").replace(" )", ")").replace(" (", "(").replace(" ,", ",");
    Some((name.trim_matches(['"', '`']).to_ascii_lowercase(), Expression { of, sql, is_constant }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(sql: &str) -> Vec<String> {
        let candidates = View::parse(sql).unwrap().candidates("catalogue_courses", &["account_id", "slug"], false);
        candidates.into_iter().map(|index| index.with(&[]).split_once(" ON ").unwrap().1.to_owned()).collect()
    }

    #[test]
    fn a_view_over_one_table_tells_its_expressions() {
        let sql = "CREATE VIEW catalogue_courses AS -- of ours, not theirs\n SELECT CAST(user_id AS TEXT) AS account_id, \
             c.slug, c.\"name\" title, coalesce(c.tagline, 'none, yet') tagline FROM courses c WHERE c.deleted_at IS NULL";
        assert_eq!(keys(sql), ["courses (CAST(user_id AS TEXT), slug COLLATE BINARY)"]);
        let view = View::parse(sql).unwrap();
        assert_eq!(view.columns["title"].sql, "\"name\"");
        assert_eq!(view.columns["tagline"].sql, "coalesce(tagline, 'none, yet')");
    }

    #[test]
    fn what_the_view_itself_names_is_in_no_index() {
        let of =
            |account: &str| keys(&format!("CREATE VIEW v AS SELECT {account} AS account_id, c.slug FROM courses c"));
        for account in ["'one of us'", "CAST(7 AS TEXT)", "('a' || 'b')"] {
            assert_eq!(of(account), ["courses (slug COLLATE BINARY)"], "{account}");
        }
        for account in ["text", "c.text", "CAST(text AS TEXT)", "'n' || c.id"] {
            assert!(of(account)[0].ends_with(", slug COLLATE BINARY)"), "{account}: {:?}", of(account));
        }
    }

    #[test]
    fn a_view_over_joined_tables_tells_what_joins_them() {
        let sql = "CREATE VIEW catalogue_courses (account_id, slug) AS SELECT p.login, t.handle AS name \
             FROM trainings AS t JOIN people AS p ON p.id = t.person_id";
        assert_eq!(
            keys(sql),
            [
                "trainings (handle COLLATE BINARY)",
                "trainings (person_id, handle COLLATE BINARY)",
                "people (login)",
                "people (id, login)"
            ]
        );
    }

    #[test]
    fn of_any_other_view_nothing_is_told() {
        for sql in [
            "CREATE TABLE catalogue_courses (account_id, slug)",
            "CREATE VIEW v AS SELECT slug FROM a UNION ALL SELECT slug FROM b",
            "CREATE VIEW v AS SELECT slug FROM (SELECT slug FROM a)",
            "CREATE VIEW v AS SELECT slug",
        ] {
            assert!(View::parse(sql).is_none(), "{sql}");
        }
    }
}
