//! [`Statements`]: queries of requests and administration over views, with the names and types found at opening.
//!
//! An id is compared in the column's type, so that the column's own index can be used ([`Columns::compared`]); slugs are
//! sorted by bytes. Each comparison is repeated by bytes: a recreated view may have a type or a collation that treats
//! different texts as equal.
//!
//! Each statement locks views in one order: courses, modules, revisions, accounts. The parser locks what is in `FROM` first,
//! then what is selected, then what is compared. So recreating the views in that order cannot deadlock.

use catalogue_core::storage::views::{ACCOUNTS, COURSES, MODULES, REVISIONS};
use tokio_postgres::types::Type;

use super::columns::Columns;
use crate::connection::Sql;
use crate::options::quoted;

const TEXT: Type = Type::TEXT;

/// Accounts that have credentials, instead of those of [`PAGE_OF_ALL`](crate::accounts::PAGE_OF_ALL) and `NAMED_ACCOUNTS`.
pub(crate) const CREDENTIAL_OWNERS: [Sql<'static>; 2] = [
    Sql {
        text: "SELECT DISTINCT account_id, '', '' FROM credentials WHERE account_id >= $1 ORDER BY account_id LIMIT $2",
        types: &[TEXT, Type::INT8],
    },
    Sql {
        text: "SELECT DISTINCT account_id, '', '' FROM credentials WHERE account_id = ANY($1) ORDER BY account_id",
        types: &[Type::TEXT_ARRAY],
    },
];

/// Position of the revision, after the columns of a page.
pub(crate) const PAGE_REVISION: usize = 8;
/// Positions in the rows of a course: the first column of its module, the number of courses with the slug, and the revision.
pub(crate) const MODULE: usize = 8;
pub(crate) const SAME_SLUG_COUNT: usize = 13;
pub(crate) const COURSE_REVISION: usize = 14;

pub(crate) const MODULE_COLUMNS: &str = "CAST(m.account_id AS TEXT), CAST(m.course_slug AS TEXT), CAST(m.title AS TEXT), \
     CAST(m.summary AS TEXT), CAST(m.number AS BIGINT)";

/// Returns the columns of a [`Page`](catalogue_core::storage::views::Page).
pub(crate) fn page_columns(module_count: &str) -> String {
    format!(
        "{module_count}, c.hidden, c.published_at, c.created_at, CAST(c.language AS TEXT), CAST(c.title AS TEXT), \
         CAST(c.slug AS TEXT), CAST(c.account_id AS TEXT)"
    )
}

/// End of a credential, as in [`LIST`](crate::credentials::LIST).
const END: &str = "least(coalesce(c.revoked_at, 9223372036854775807), coalesce(c.expires_at, 9223372036854775807))";

/// A statement built at opening.
#[derive(Debug)]
pub(crate) struct Statement {
    text: String,
    types: &'static [Type],
}

impl Statement {
    pub(crate) fn sql(&self) -> Sql<'_> {
        Sql { text: &self.text, types: self.types }
    }
}

/// The statements over the views of one storage.
#[derive(Debug)]
pub(crate) struct Statements {
    /// The columns of a credential and the revision, which is null if there is none.
    pub(crate) find_credential: Statement,
    /// The columns of a page, and the revision.
    pub(crate) first_page: Statement,
    /// Like `first_page`, after a time and a slug.
    pub(crate) next_page: Statement,
    /// A row for each module of each course with the slug.
    pub(crate) find_course: Statement,
    pub(crate) find_revision: Statement,
    /// Like [`LIST`](crate::credentials::LIST).
    pub(crate) list_keys: Statement,
    pub(crate) find_account: Statement,
    /// Like [`FIND_SIGN_IN`](crate::sign_ins::FIND_SIGN_IN), also for an account that the view lacks (`is_known` is false).
    pub(crate) find_sign_in: Statement,
    /// A page of all accounts, the named ones, and the numbers of their courses.
    pub(crate) accounts: [Statement; 3],
}

impl Statements {
    pub(crate) fn new(schema: &str, columns: &Columns) -> Self {
        let [accounts, courses, modules, revisions] =
            [ACCOUNTS, COURSES, MODULES, REVISIONS].map(|view| format!("{}.{view}", quoted(schema)));
        // In a `CASE` the planner uses no index for the second comparison, and does not count its selectivity again.
        // Otherwise an account would seem to have too few rows for the index on their order.
        let equals = |alias: &str, view, name, text: &str| {
            let [key, value] = columns.compared(alias, view, name, text);
            format!("{key} = {value} AND CASE WHEN CAST({alias}{name} AS TEXT) COLLATE \"C\" = {text} THEN TRUE END")
        };
        let is_one_of = |view, name| {
            let [key, value] = columns.compared("", view, name, "t");
            format!(
                "{key} = ANY(ARRAY(SELECT {value} FROM unnest($1) AS u (t))) \
                 AND CASE WHEN CAST({name} AS TEXT) COLLATE \"C\" = ANY($1) THEN TRUE END"
            )
        };
        // Excludes an account that the view of accounts no longer has.
        let is_known =
            |id: &str| format!("EXISTS (SELECT 1 FROM {accounts} AS a WHERE {})", equals("a.", ACCOUNTS, "id", id));
        let revision = |id: &str| {
            if !columns.has_revisions() {
                return "CAST(NULL AS UUID)".to_owned();
            }
            let of_account = equals("r.", REVISIONS, "account_id", id);
            format!("(SELECT r.revision FROM {revisions} AS r WHERE {of_account} AND {})", is_known(id))
        };
        let module_count = match columns.has_module_count() {
            true => "CAST(c.module_count AS BIGINT)".to_owned(),
            // Reads one range of an index for each course of the page.
            false => format!(
                "(SELECT count(*) FROM {modules} AS m WHERE {} AND {})",
                equals("m.", MODULES, "account_id", "$1"),
                equals("m.", MODULES, "course_slug", "CAST(c.slug AS TEXT)")
            ),
        };
        let page = |after: &str| {
            format!(
                "SELECT {}, {} FROM {courses} AS c WHERE {} AND {}{after} \
                 ORDER BY c.created_at DESC, CAST(c.slug AS TEXT) COLLATE \"C\" DESC LIMIT $2",
                page_columns(&module_count),
                revision("$1"),
                equals("c.", COURSES, "account_id", "$1"),
                is_known("$1"),
            )
        };
        let (first_page, next_page) =
            (page(""), page(" AND (c.created_at, CAST(c.slug AS TEXT) COLLATE \"C\") < ($3, $4)"));
        let find_course = format!(
            "SELECT c.account_id, c.slug, c.title, c.tagline, c.language, c.published_at, c.hidden, c.access_mode, \
             {MODULE_COLUMNS}, c.same, {} FROM (SELECT CAST(account_id AS TEXT) AS account_id, CAST(slug AS TEXT) AS slug, \
             CAST(title AS TEXT) AS title, CAST(tagline AS TEXT) AS tagline, CAST(language AS TEXT) AS language, published_at, \
             hidden, CAST(access_mode AS TEXT) AS access_mode, count(*) OVER () AS same FROM {courses} \
             WHERE {} AND {}) AS c LEFT JOIN {modules} AS m ON {} AND {} WHERE {} ORDER BY m.number",
            revision("$1"),
            equals("", COURSES, "account_id", "$1"),
            equals("", COURSES, "slug", "$2"),
            equals("m.", MODULES, "account_id", "$1"),
            equals("m.", MODULES, "course_slug", "$2"),
            is_known("$1")
        );
        let find_credential = format!(
            "SELECT c.account_id, c.kind, c.id, c.scopes, c.digest, c.expires_at, c.revoked_at, {} \
             FROM credentials AS c WHERE c.digest = $1",
            revision("c.account_id")
        );
        let find_revision = format!("SELECT {} AS revision", revision("$1"));
        let statement = |text, types| Statement { text, types };
        let next_page_types: &[Type] = match columns.created_at() {
            Type::TIMESTAMPTZ => &[TEXT, Type::INT8, Type::TIMESTAMPTZ, TEXT],
            Type::TIMESTAMP => &[TEXT, Type::INT8, Type::TIMESTAMP, TEXT],
            _ => &[TEXT, Type::INT8, Type::INT8, TEXT],
        };
        let list_keys = format!(
            "SELECT c.* FROM (SELECT CAST($1 AS TEXT) AS id WHERE {0}) AS a \
             LEFT JOIN credentials AS c ON c.account_id = $1 AND {END} > $2 UNION ALL \
             (SELECT c.* FROM credentials AS c WHERE c.account_id = $1 AND {END} <= $2 \
             AND {0} ORDER BY {END} DESC, c.id DESC LIMIT $3)",
            is_known("$1")
        );
        let of_id = |id: &str| format!("FROM {accounts} AS a WHERE {} LIMIT 1", equals("a.", ACCOUNTS, "id", id));
        let name = columns.name();
        let find_sign_in = format!(
            "SELECT s.account_id, coalesce(a.name, ''), '', s.expires_at, a.name IS NOT NULL AS is_known FROM sign_ins AS s \
             LEFT JOIN LATERAL (SELECT {name} AS name {}) AS a ON TRUE WHERE s.digest = $1 AND s.kind = $2",
            of_id("s.account_id")
        );
        let page_of_all = format!(
            "SELECT CAST(id AS TEXT), '', '' FROM {accounts} WHERE CAST(id AS TEXT) COLLATE \"C\" >= $1 \
             ORDER BY CAST(id AS TEXT) COLLATE \"C\" LIMIT $2"
        );
        let named = format!(
            "SELECT CAST(id AS TEXT), '', '' FROM {accounts} WHERE {} ORDER BY CAST(id AS TEXT) COLLATE \"C\"",
            is_one_of(ACCOUNTS, "id")
        );
        let courses_of = format!(
            "SELECT CAST(account_id AS TEXT) COLLATE \"C\", count(*) FROM {courses} WHERE {} GROUP BY 1",
            is_one_of(COURSES, "account_id")
        );
        Self {
            find_credential: statement(find_credential, &[Type::BYTEA]),
            first_page: statement(first_page, &[TEXT, Type::INT8]),
            next_page: statement(next_page, next_page_types),
            find_course: statement(find_course, &[TEXT, TEXT]),
            find_revision: statement(find_revision, &[TEXT]),
            list_keys: statement(list_keys, &[TEXT, Type::INT8, Type::INT8]),
            find_account: statement(format!("SELECT $1, {name}, '' {}", of_id("$1")), &[TEXT]),
            find_sign_in: statement(find_sign_in, &[Type::BYTEA, TEXT]),
            accounts: [
                statement(page_of_all, &[TEXT, Type::INT8]),
                statement(named, &[Type::TEXT_ARRAY]),
                statement(courses_of, &[Type::TEXT_ARRAY]),
            ],
        }
    }
}
