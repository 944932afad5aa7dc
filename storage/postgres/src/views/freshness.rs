//! [`Freshness`]: whether triggers maintain `catalogue_revisions`, so that responses can be cached by revision.
//!
//! Without triggers, rows can change while their revision stays the same. So each revision is mixed with a [`Generation`]: a
//! digest of the triggers, their functions, the tables and the views, as the catalogs have them. Dropping, disabling, replacing
//! or recreating one changes the generation, so that responses cached or tagged in an earlier generation are not found.
//!
//! A request checks the catalogs if the last check is ten seconds old; other requests wait. Revisions are not returned:
//!
//! - while a table behind the views lacks an enabled trigger;
//! - while a trigger or function differs from the first complete set, since its effect cannot be judged;
//! - after a change of the generation, until two checks, ten seconds apart, have the same result: a replica may lag behind;
//! - while the last check has failed.

use std::time::Duration;

use catalogue_core::storage::views::{ACCOUNTS, COURSES, MODULES, REVISIONS};
use catalogue_core::storage::{Revision, StorageError, ViewAdvice};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::connection::{Connection, Sql};
use crate::connections::readers::Readers;
use crate::error::unavailable;
use crate::rows::{get, invalid_value, revision};

/// Maximum age of a check whose result is used: the default limit of a replica's lag.
const MAX_AGE: Duration = Duration::from_secs(10);

/// Tables that lack an enabled trigger, the generation, and a digest of the definitions of triggers and functions.
///
/// Tables are those behind the views, with partitions and the views in between. A materialized view is not followed further,
/// since its rows do not follow its tables. Functions are those of triggers, and functions of the same schema that they name.
const CHECK_TRIGGERS: Sql = Sql {
    text: "WITH RECURSIVE views AS ( \
           SELECT c.oid, c.relname <> 'catalogue_revisions' AS is_shown FROM pg_catalog.pg_class AS c \
           JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = ANY($2) \
           UNION SELECT b.oid, v.is_shown FROM views AS v JOIN pg_catalog.pg_class AS c ON c.oid = v.oid \
           CROSS JOIN LATERAL (SELECT d.refobjid AS oid FROM pg_catalog.pg_rewrite AS r \
           JOIN pg_catalog.pg_depend AS d ON d.classid = CAST('pg_catalog.pg_rewrite' AS REGCLASS) AND d.objid = r.oid \
           AND d.refclassid = CAST('pg_catalog.pg_class' AS REGCLASS) WHERE r.ev_class = v.oid AND c.relkind = 'v' \
           UNION ALL SELECT i.inhrelid FROM pg_catalog.pg_inherits AS i WHERE i.inhparent = v.oid) AS b), \
           tables AS (SELECT v.oid, v.is_shown AND c.relkind IN ('r', 'p', 'f') AS is_watched, c.relkind, c.relfilenode, \
           quote_ident(CAST(n.nspname AS TEXT)) || '.' || quote_ident(CAST(c.relname AS TEXT)) AS name \
           FROM views AS v JOIN pg_catalog.pg_class AS c ON c.oid = v.oid \
           JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace), \
           triggers AS (SELECT t.xmin AS changed, t.* FROM pg_catalog.pg_trigger AS t \
           WHERE NOT t.tgisinternal AND t.tgrelid IN (SELECT oid FROM tables)), \
           functions AS (SELECT tgfoid AS oid FROM triggers UNION SELECT q.oid FROM functions AS f \
           JOIN pg_catalog.pg_proc AS p ON p.oid = f.oid AND p.pronamespace <> CAST('pg_catalog' AS REGNAMESPACE) \
           JOIN pg_catalog.pg_proc AS q ON q.pronamespace = p.pronamespace AND position(CAST(q.proname AS TEXT) IN p.prosrc) > 0), \
           missing AS (SELECT b.name, concat_ws(', ', \
           CASE WHEN coalesce(bit_or(t.tgtype), 0) & 4 = 0 THEN 'INSERT' END, \
           CASE WHEN coalesce(bit_or(t.tgtype), 0) & 16 = 0 THEN 'UPDATE' END, \
           CASE WHEN coalesce(bit_or(t.tgtype), 0) & 8 = 0 THEN 'DELETE' END, \
           CASE WHEN coalesce(bit_or(t.tgtype), 0) & 32 = 0 THEN 'TRUNCATE' END) AS events \
           FROM tables AS b LEFT JOIN triggers AS t ON t.tgrelid = b.oid AND t.tgenabled IN ('O', 'A') \
           WHERE b.is_watched GROUP BY b.oid, b.name), \
           states AS (SELECT concat_ws(' ', 'table', oid, CASE WHEN relkind <> 'm' THEN relfilenode END) AS state FROM tables \
           UNION ALL SELECT concat_ws(' ', 'view', oid, xmin) FROM pg_catalog.pg_rewrite WHERE ev_class IN (SELECT oid FROM tables) \
           UNION ALL SELECT concat_ws(' ', 'trigger', oid, changed) FROM triggers \
           UNION ALL SELECT concat_ws(' ', 'function', oid, xmin) FROM pg_catalog.pg_proc WHERE oid IN (SELECT oid FROM functions)), \
           texts AS (SELECT concat_ws(' ', 'trigger', b.name, t.tgname, t.tgtype, t.tgattr, t.tgqual, encode(t.tgargs, 'hex')) AS text \
           FROM triggers AS t JOIN tables AS b ON b.oid = t.tgrelid \
           UNION ALL SELECT concat_ws(' ', 'function', pronamespace, proname, prosrc, proconfig) FROM pg_catalog.pg_proc \
           WHERE oid IN (SELECT oid FROM functions)) \
           SELECT ARRAY(SELECT name || ' has no enabled trigger for ' || events FROM missing WHERE events <> '' ORDER BY name), \
           (SELECT CAST(left(encode(sha256(convert_to(string_agg(state, ',' ORDER BY state), 'UTF8')), 'hex'), 32) AS UUID) FROM states), \
           (SELECT CAST(left(encode(sha256(convert_to(string_agg(text, ',' ORDER BY text), 'UTF8')), 'hex'), 32) AS UUID) FROM texts)",
    types: &[Type::NAME, Type::TEXT_ARRAY],
};

const REMEDY: &str = "run your copy of revisions.postgres.sql again";

pub(super) const VIEWS: &[&str] = &[ACCOUNTS, COURSES, MODULES, REVISIONS];

/// Digest of the catalogs' state in which a revision was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Generation([u8; 16]);

impl Generation {
    /// Returns a revision of the view, mixed with this generation.
    pub(crate) fn of(self, revision: Revision) -> Revision {
        let mut bytes = *revision.as_bytes();
        bytes.iter_mut().zip(self.0).for_each(|(byte, other)| *byte ^= other);
        Revision::from_bytes(bytes)
    }
}

/// Result of [`CHECK_TRIGGERS`].
struct Snapshot {
    missing: Vec<String>,
    generation: Generation,
    /// Digest of the definitions; `None` without a trigger.
    texts: Option<Revision>,
}

impl Snapshot {
    fn read(rows: &[Row]) -> Result<Self, StorageError> {
        let row = rows.first().ok_or_else(|| invalid_value("no views"))?;
        let generation = revision(row, 1)?.ok_or_else(|| invalid_value("no views"))?;
        Ok(Self { missing: get(row, 0)?, generation: Generation(*generation.as_bytes()), texts: revision(row, 2)? })
    }
}

/// Last check of the triggers.
pub(crate) struct Freshness {
    schema: String,
    /// Locked during a check.
    last_check: Mutex<LastCheck>,
}

struct LastCheck {
    at: Instant,
    /// Why revisions are not returned; `None` if they are.
    distrust: Option<String>,
    generation: Generation,
    /// Digest of the first complete set of definitions.
    texts: Option<Revision>,
}

impl Freshness {
    /// Runs the first check, for views with revisions.
    pub(crate) async fn begin(connection: &Connection, schema: &str) -> Result<Self, StorageError> {
        let at = Instant::now();
        let rows = connection.query(&CHECK_TRIGGERS, &[&schema, &VIEWS]).await?;
        let Snapshot { missing, generation, texts } = Snapshot::read(&rows)?;
        let distrust = missing_triggers_message(&missing);
        let last = LastCheck { at, texts: texts.filter(|_| distrust.is_none()), distrust, generation };
        Ok(Self { schema: schema.to_owned(), last_check: Mutex::new(last) })
    }

    /// Returns the generation for a read that begins now, or `None` if its response must not be cached.
    pub(crate) async fn generation(&self, readers: &Readers) -> Option<Generation> {
        let mut last = self.last_check.lock().await;
        if last.at.elapsed() < MAX_AGE {
            return last.trusted_generation();
        }
        let began = Instant::now();
        // Leaves time for the read of the request.
        let max_wait = readers.deadline().duration_since(began) / 2;
        let found = match timeout(max_wait, readers.read_primary(&CHECK_TRIGGERS, &[&self.schema, &VIEWS])).await {
            Ok(rows) => rows.and_then(|rows| Snapshot::read(&rows)),
            Err(_) => Err(unavailable("the database took too long")),
        };
        *last = last.after(found, began);
        last.trusted_generation()
    }
}

impl LastCheck {
    fn trusted_generation(&self) -> Option<Generation> {
        self.distrust.is_none().then_some(self.generation)
    }

    /// Returns the check after this one, which began at `at` and found `found`. Logs if caching stops or resumes.
    fn after(&self, found: Result<Snapshot, StorageError>, at: Instant) -> Self {
        let (distrust, generation, texts) = match found {
            Err(error) => (Some(format!("cannot read the triggers: {error}")), self.generation, self.texts),
            Ok(Snapshot { missing, generation, .. }) if !missing.is_empty() => {
                (missing_triggers_message(&missing), generation, self.texts)
            }
            Ok(Snapshot { generation, texts, .. }) => {
                let known = self.texts.or(texts);
                let reason = if known != texts {
                    Some("a trigger or its function was redefined; restart the server".to_owned())
                } else if generation != self.generation {
                    Some("a table, view or trigger was recreated; caching resumes in ten seconds".to_owned())
                } else {
                    None
                };
                (reason, generation, known)
            }
        };
        match &distrust {
            None if self.distrust.is_some() => tracing::info!("caching responses by `catalogue_revisions` again"),
            Some(reason) if self.distrust.as_ref() != Some(reason) => tracing::warn!(%reason, "not caching responses"),
            _ => {}
        }
        Self { at, distrust, generation, texts }
    }
}

/// Returns the message about tables without an enabled trigger; `None` if there are none.
fn missing_triggers_message(missing: &[String]) -> Option<String> {
    (!missing.is_empty()).then(|| format!("{}; {REMEDY}", missing.join(". ")))
}

/// Returns advice for each table without the triggers that `catalogue_revisions` needs.
pub(crate) async fn check(connection: &Connection, schema: &str) -> Result<Vec<ViewAdvice>, StorageError> {
    let rows = connection.query(&CHECK_TRIGGERS, &[&schema, &VIEWS]).await?;
    let advice = |what| ViewAdvice {
        subject: REVISIONS.to_owned(),
        finding: format!("{what}, so responses are not cached"),
        fix: Some(REMEDY.to_owned()),
    };
    Ok(Snapshot::read(&rows)?.missing.into_iter().map(advice).collect())
}
