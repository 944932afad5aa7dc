//! Triggers that maintain `catalogue_revisions` are dropped, disabled or replaced while responses are cached by revision.

use std::time::Duration;

use catalogue_core::AccountId;
use catalogue_core::storage::CourseStorage;
use catalogue_postgres::PostgresStorage;
use catalogue_storage_conformance::sample;
use catalogue_storage_tests::host_app::{Client, HostApp as _};

use super::host_app::{HostApp, NUMBERS, options};

/// Advances the clock, so that the next request checks the triggers.
async fn advance_ten_seconds() {
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(10)).await;
    tokio::time::resume();
}

const COURSE: &str = "/api/v1/courses/course";

/// A client of a catalogue that serves one course over views.
struct Served {
    host_app: HostApp,
    client: Client,
    account: AccountId,
}

impl Served {
    async fn new() -> Option<Self> {
        let host_app = HostApp::with_tables(NUMBERS).await?;
        let account = host_app.account("owner").await;
        host_app.put_courses(&[sample::course(account.as_str(), "course")]).await;
        let client = Client::new(&host_app.storage, &account).await;
        Some(Self { host_app, client, account })
    }

    /// Changes the title, and returns whether the next response contains it.
    async fn serves(&self, title: &str) -> bool {
        self.host_app.host.execute("UPDATE trainings SET name = $1", &[&title]).await.unwrap();
        self.has(title).await
    }

    async fn has(&self, title: &str) -> bool {
        let (status, body) = self.client.text(COURSE).await;
        assert_eq!(status, 200, "{body}");
        body.contains(title)
    }

    async fn has_revision(&self) -> bool {
        self.host_app.storage.revision(&self.account).await.unwrap().is_some()
    }

    async fn advice(&self) -> Vec<String> {
        let found = self.host_app.storage.views().unwrap().check_revisions().await.unwrap();
        found
            .into_iter()
            .map(|advice| advice.finding.replace(&format!("{}.", self.host_app.schema.name()), ""))
            .collect()
    }
}

/// Changes, each with the start of a finding of `check_revisions`; empty if the set of triggers stays complete.
const CHANGES: [(&str, &str); 10] = [
    ("DROP TRIGGER changed ON trainings", "trainings has no enabled trigger for INSERT, UPDATE, DELETE"),
    ("DROP TRIGGER emptied ON lessons", "lessons has no enabled trigger for TRUNCATE"),
    (
        "ALTER TABLE trainings DISABLE TRIGGER ALL",
        "trainings has no enabled trigger for INSERT, UPDATE, DELETE, TRUNCATE",
    ),
    (
        "ALTER TABLE trainings ENABLE REPLICA TRIGGER changed",
        "trainings has no enabled trigger for INSERT, UPDATE, DELETE",
    ),
    ("DROP FUNCTION changed() CASCADE", "trainings has no enabled trigger for INSERT, UPDATE, DELETE"),
    (
        "CREATE TABLE names (training BIGINT, name TEXT); CREATE OR REPLACE VIEW catalogue_courses AS \
         SELECT owner AS account_id, handle AS slug, coalesce(n.name, t.name) AS title, subtitle AS tagline, \
         lang AS language, made_at AS created_at, live_at AS published_at, is_hidden AS hidden, access AS access_mode, \
         lessons AS module_count FROM trainings AS t LEFT JOIN names AS n ON n.training = t.id; \
         ALTER TABLE trainings DISABLE TRIGGER changed",
        "names has no enabled trigger for INSERT, UPDATE, DELETE, TRUNCATE",
    ),
    (
        "CREATE TABLE older () INHERITS (trainings); ALTER TABLE trainings DISABLE TRIGGER changed",
        "older has no enabled trigger for INSERT, UPDATE, DELETE, TRUNCATE",
    ),
    ("CREATE OR REPLACE FUNCTION changed() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'", ""),
    ("CREATE OR REPLACE FUNCTION touch(owner BIGINT) RETURNS void LANGUAGE sql AS ''", ""),
    (
        "DROP TRIGGER changed ON trainings; \
         CREATE TRIGGER other AFTER INSERT OR UPDATE OR DELETE ON trainings EXECUTE FUNCTION unchanged()",
        "",
    ),
];

#[tokio::test]
async fn responses_are_not_cached_after_triggers_change() {
    for (change, finding) in CHANGES {
        let Some(served) = Served::new().await else { return };
        assert!(served.serves("first").await && served.has_revision().await, "{change}");
        served.host_app.host.batch_execute(change).await.unwrap();
        advance_ten_seconds().await;
        for title in ["second", "third"] {
            assert!(served.serves(title).await, "{change}");
            assert!(!served.has_revision().await, "{change}");
            advance_ten_seconds().await;
        }
        let found = served.advice().await;
        match finding {
            "" => assert_eq!(found, Vec::<String>::new(), "{change}"),
            _ => assert!(found.iter().any(|found| found.starts_with(finding)), "{change}: {found:?}"),
        }
    }
}

#[tokio::test]
async fn cached_responses_do_not_return_after_triggers_are_restored() {
    let Some(served) = Served::new().await else { return };
    assert!(served.serves("first").await);
    let before = served.host_app.storage.revision(&served.account).await.unwrap();
    let tag = served.client.tag(COURSE).await;
    assert_eq!(served.client.get(COURSE, &tag).await.status(), 304);
    let untracked = "DROP TRIGGER changed ON trainings; UPDATE trainings SET name = 'untracked'; \
                     CREATE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE ON trainings FOR EACH ROW EXECUTE FUNCTION changed()";
    served.host_app.host.batch_execute(untracked).await.unwrap();
    assert_eq!(served.advice().await, Vec::<String>::new());
    // `catalogue_revisions` still contains the same revision.
    for is_cached in [false, true, true] {
        advance_ten_seconds().await;
        assert!(served.has("untracked").await);
        assert_eq!(served.client.get(COURSE, &tag).await.status(), 200);
        assert_eq!(served.has_revision().await, is_cached);
    }
    let after = served.host_app.storage.revision(&served.account).await.unwrap();
    assert!(after.is_some() && after != before);
    let restarted = PostgresStorage::open(&options(&served.host_app.schema)).await.unwrap();
    assert_eq!(restarted.revision(&served.account).await.unwrap(), after, "servers agree on tags");
    assert!(served.serves("later").await);
}

#[tokio::test]
async fn caching_starts_after_missing_triggers_are_created() {
    let Some(served) = Served::new().await else { return };
    let missing = "DROP TRIGGER emptied ON lessons; DROP TRIGGER emptied ON trainings";
    served.host_app.host.batch_execute(missing).await.unwrap();
    let storage = PostgresStorage::open(&options(&served.host_app.schema)).await.unwrap();
    let has_revision = async || storage.revision(&served.account).await.unwrap().is_some();
    assert!(!has_revision().await, "from the start");
    let create = "CREATE TRIGGER emptied AFTER TRUNCATE ON lessons EXECUTE FUNCTION emptied(); \
                CREATE TRIGGER emptied AFTER TRUNCATE ON trainings EXECUTE FUNCTION emptied()";
    served.host_app.host.batch_execute(create).await.unwrap();
    for is_cached in [false, true] {
        advance_ten_seconds().await;
        assert_eq!(has_revision().await, is_cached);
    }
}
