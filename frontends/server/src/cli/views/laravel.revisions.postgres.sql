-- Optional: with it, `catalogue serve` caches rendered responses, and renders them again only after a change of the account.
-- Each change of the views' rows replaces the account's revision in the same transaction, whichever program writes. Not for views
-- that depend on the clock or on random numbers: they change without a commit.
-- A REFRESH of a materialized view must replace all revisions in its transaction.
-- Run this file again after a migration that recreates one of these tables. Restart the server only after the first run, and
-- after one that replaces an older or another copy.
-- The triggers also fire on a subscriber of logical replication: leave catalogue_revisions out of the publication.
BEGIN;
-- The schema of your tables. The functions always use this path instead of that of the writer's session.
SET LOCAL search_path = public, pg_temp;
CREATE TABLE IF NOT EXISTS catalogue_revisions (account_id text NOT NULL PRIMARY KEY, revision uuid NOT NULL);

CREATE OR REPLACE FUNCTION catalogue_replace(accounts text[]) RETURNS void LANGUAGE sql SET search_path FROM CURRENT AS $$
    INSERT INTO catalogue_revisions
    SELECT id, gen_random_uuid() FROM (SELECT DISTINCT unnest(accounts) AS id) changed WHERE id IS NOT NULL ORDER BY id
    ON CONFLICT (account_id) DO UPDATE SET revision = excluded.revision
$$;

CREATE OR REPLACE FUNCTION catalogue_account_changed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM catalogue_replace(ARRAY[OLD.id::text, NEW.id::text]);
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER catalogue_changed AFTER INSERT OR DELETE OR UPDATE OF id ON users
    FOR EACH ROW EXECUTE FUNCTION catalogue_account_changed();

CREATE OR REPLACE FUNCTION catalogue_course_changed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM catalogue_replace(ARRAY[OLD.user_id::text, NEW.user_id::text]);
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER catalogue_changed AFTER INSERT OR UPDATE OR DELETE ON courses
    FOR EACH ROW EXECUTE FUNCTION catalogue_course_changed();

CREATE OR REPLACE FUNCTION catalogue_lesson_changed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    -- Locked, so that no course changes its owner meanwhile.
    PERFORM catalogue_replace(ARRAY(
        SELECT c.user_id::text FROM courses c WHERE c.id IN (OLD.course_id, NEW.course_id)
        FOR SHARE OF c));
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER catalogue_changed AFTER INSERT OR UPDATE OR DELETE ON lessons
    FOR EACH ROW EXECUTE FUNCTION catalogue_lesson_changed();

CREATE OR REPLACE FUNCTION catalogue_emptied() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    UPDATE catalogue_revisions SET revision = gen_random_uuid();
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER catalogue_emptied AFTER TRUNCATE ON users EXECUTE FUNCTION catalogue_emptied();
CREATE OR REPLACE TRIGGER catalogue_emptied AFTER TRUNCATE ON courses EXECUTE FUNCTION catalogue_emptied();
CREATE OR REPLACE TRIGGER catalogue_emptied AFTER TRUNCATE ON lessons EXECUTE FUNCTION catalogue_emptied();

-- The triggers fire in sessions with session_replication_role = replica too.
ALTER TABLE users ENABLE ALWAYS TRIGGER catalogue_changed, ENABLE ALWAYS TRIGGER catalogue_emptied;
ALTER TABLE courses ENABLE ALWAYS TRIGGER catalogue_changed, ENABLE ALWAYS TRIGGER catalogue_emptied;
ALTER TABLE lessons ENABLE ALWAYS TRIGGER catalogue_changed, ENABLE ALWAYS TRIGGER catalogue_emptied;

-- Covers earlier changes, which fired no triggers.
UPDATE catalogue_revisions SET revision = gen_random_uuid();
INSERT INTO catalogue_revisions SELECT id, gen_random_uuid() FROM catalogue_accounts ON CONFLICT DO NOTHING;
-- GRANT SELECT ON catalogue_revisions TO catalogue;
COMMIT;
