//! [`RowCheck`]: checks across several rows of the views, in SQL.

use super::ViewProblem;
use super::columns::{COURSES, MODULES, REVISIONS};

/// Property of several rows of the views.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowCheck {
    /// An account has a slug only once.
    Slugs,
    /// The modules of a course are numbered from 1 without a gap.
    Numbers,
    /// A course has as many modules as its `module_count` states.
    Counts,
    /// An account has only one revision.
    Revisions,
}

/// Differences between the SQL of databases.
#[derive(Clone, Copy, Debug)]
pub struct Dialect<'d> {
    /// Prefix of a view's name, such as `public.`.
    pub schema: &'d str,
    /// Collation that compares bytes.
    pub collation: &'d str,
    /// Expression for `module_count` as an integer, or null if it is another value.
    pub module_count: &'d str,
    /// End of a statement that reads the rows of a view, such as ` LIMIT 10000`.
    pub limit: &'d str,
}

impl RowCheck {
    /// Returns the statement for the wrong accounts and slugs, each with two integers for [`problem`](Self::problem).
    #[must_use]
    pub fn sql(self, Dialect { schema, collation, module_count, limit }: Dialect<'_>) -> String {
        let text = |column, name| format!("CAST({column} AS TEXT) COLLATE {collation} AS {name}");
        let (account, course) = (text("account_id", "a"), text("course_slug", "s"));
        let known = "a IS NOT NULL AND s IS NOT NULL";
        let order = "ORDER BY a, s LIMIT 100";
        match self {
            Self::Slugs => format!(
                "SELECT a, s, CAST(0 AS BIGINT), CAST(0 AS BIGINT) FROM (SELECT {account}, {} FROM {schema}{COURSES}{limit}) AS r WHERE {known} \
                 GROUP BY a, s HAVING count(*) > 1 {order}",
                text("slug", "s")
            ),
            // Reads all modules of the courses in the sample, since the sample may lack some of them.
            Self::Numbers => format!(
                "SELECT a, s, CAST(0 AS BIGINT), CAST(0 AS BIGINT) FROM (SELECT {account}, {course}, number FROM {schema}{MODULES}) AS m WHERE (a, s) IN \
                 (SELECT a, s FROM (SELECT {account}, {course} FROM {schema}{MODULES}{limit}) AS r) AND {known} GROUP BY a, s \
                 HAVING min(number) <> 1 OR max(number) <> count(*) OR count(DISTINCT number) <> count(*) {order}"
            ),
            Self::Counts => format!(
                "WITH c AS (SELECT {account}, {}, {module_count} AS n FROM {schema}{COURSES}{limit}) \
                 SELECT a, s, max(told), count(module) FROM (SELECT a, s, n AS told, CAST(NULL AS BIGINT) AS module FROM c \
                 UNION ALL SELECT a, s, CAST(NULL AS BIGINT), 1 FROM (SELECT {account}, {course} FROM {schema}{MODULES}) AS m \
                 WHERE (a, s) IN (SELECT a, s FROM c)) AS together WHERE {known} \
                 GROUP BY a, s HAVING max(told) >= 0 AND max(told) <> count(module) {order}",
                text("slug", "s")
            ),
            Self::Revisions => format!(
                "SELECT a, '', CAST(0 AS BIGINT), CAST(0 AS BIGINT) FROM (SELECT {account} FROM {schema}{REVISIONS}{limit}) AS r WHERE a IS NOT NULL \
                 GROUP BY a HAVING count(*) > 1 ORDER BY a LIMIT 100"
            ),
        }
    }

    /// Returns the problem that a row of the statement reports.
    #[must_use]
    pub fn problem(self, account: &str, slug: &str, stated: i64, counted: i64) -> ViewProblem {
        let (view, problem, expected) = match self {
            Self::Slugs => (COURSES, "the account has a duplicate of this slug".to_owned(), "one course per slug"),
            Self::Numbers => {
                let problem = "its module numbers have gaps or duplicates".to_owned();
                (MODULES, problem, "modules numbered from 1 without gaps")
            }
            Self::Counts => {
                let ending = if counted == 1 { "" } else { "s" };
                let problem = format!("`module_count` is {stated}, but the course has {counted} module{ending}");
                (COURSES, problem, "the number of its rows in `catalogue_modules`; give both views the same conditions")
            }
            Self::Revisions => (REVISIONS, "the account has several revisions".to_owned(), "one row per account"),
        };
        let key = if slug.is_empty() { account.to_owned() } else { format!("{account}, {slug}") };
        ViewProblem { view, key: Some(key), problem, expected: expected.to_owned() }
    }
}
