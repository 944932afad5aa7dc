//! Views that are recreated, while they are served, with a collation that treats different texts as equal.

use catalogue_storage_tests::host_app::laws::accounts_are_compared_by_bytes;

use super::host_app::{HostApp, TEXTS};

const REVISIONS: &str = "
    ALTER TABLE owners ADD revision UUID NOT NULL DEFAULT gen_random_uuid();
    CREATE VIEW catalogue_revisions AS SELECT id AS account_id, revision FROM owners;
    CREATE FUNCTION unchanged() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
    CREATE TRIGGER unchanged AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON owners EXECUTE FUNCTION unchanged();
    CREATE TRIGGER unchanged AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON trainings EXECUTE FUNCTION unchanged();
    CREATE TRIGGER unchanged AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON lessons EXECUTE FUNCTION unchanged();
";

/// Recreates the views, with account ids and slugs that are compared case-insensitively.
const RECREATE: &str = "
    CREATE COLLATION lax (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
    DROP VIEW catalogue_courses, catalogue_modules, catalogue_accounts, catalogue_revisions;
    CREATE VIEW catalogue_accounts AS SELECT id COLLATE lax AS id FROM owners WHERE NOT gone;
    CREATE VIEW catalogue_courses AS
    SELECT owner COLLATE lax AS account_id, handle COLLATE lax AS slug, name AS title, subtitle AS tagline,
        lang AS language, made_at AS created_at, live_at AS published_at, is_hidden AS hidden, access AS access_mode
    FROM trainings;
    CREATE VIEW catalogue_modules AS
    SELECT t.owner COLLATE lax AS account_id, t.handle COLLATE lax AS course_slug, l.place AS number,
        l.name AS title, l.summary
    FROM lessons AS l JOIN trainings AS t ON t.id = l.training;
    CREATE VIEW catalogue_revisions AS SELECT id COLLATE lax AS account_id, revision FROM owners;
";

#[tokio::test]
async fn collation_never_merges_accounts() {
    let Some(host_app) = HostApp::with_tables(TEXTS).await else { return };
    let host_app = host_app.reopened(REVISIONS).await;
    accounts_are_compared_by_bytes(&host_app, &["anna", "ANNA"], RECREATE).await;
}
