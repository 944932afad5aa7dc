-- Optional: with it `catalogue serve` keeps rendered answers, and makes each anew only after a change of that account. Each change
-- of what the views show replaces the account's revision in its own transaction, whoever writes. Not for views that read
-- the clock or a random number: they change without a commit.
-- A REFRESH of a materialised view must replace all revisions in its transaction.
BEGIN;
CREATE TABLE catalogue_revisions (account_id text NOT NULL PRIMARY KEY, revision uuid NOT NULL);

CREATE FUNCTION catalogue_replace(accounts text[]) RETURNS void LANGUAGE sql AS $$
    INSERT INTO catalogue_revisions
    SELECT id, gen_random_uuid() FROM (SELECT DISTINCT unnest(accounts) AS id) changed WHERE id IS NOT NULL ORDER BY id
    ON CONFLICT (account_id) DO UPDATE SET revision = excluded.revision
$$;

CREATE FUNCTION catalogue_account_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM catalogue_replace(ARRAY[OLD.id::text, NEW.id::text]);
    RETURN NULL;
END $$;
CREATE TRIGGER catalogue_changed AFTER INSERT OR DELETE ON accounts
    FOR EACH ROW EXECUTE FUNCTION catalogue_account_changed();

CREATE FUNCTION catalogue_course_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM catalogue_replace(ARRAY[OLD.account_id::text, NEW.account_id::text]);
    RETURN NULL;
END $$;
CREATE TRIGGER catalogue_changed AFTER INSERT OR UPDATE OR DELETE ON courses
    FOR EACH ROW EXECUTE FUNCTION catalogue_course_changed();

CREATE FUNCTION catalogue_course_lesson_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- Locked, so that whoever changes a lesson knows of the courses that have it, and no course changes hands meanwhile.
    PERFORM FROM lessons l WHERE l.id IN (OLD.lesson_id, NEW.lesson_id) FOR SHARE OF l;
    PERFORM catalogue_replace(ARRAY(
        SELECT c.account_id::text FROM courses c WHERE c.id IN (OLD.course_id, NEW.course_id)
        FOR SHARE OF c));
    RETURN NULL;
END $$;
CREATE TRIGGER catalogue_changed AFTER INSERT OR UPDATE OR DELETE ON course_lessons
    FOR EACH ROW EXECUTE FUNCTION catalogue_course_lesson_changed();

CREATE FUNCTION catalogue_lesson_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- Locked, so that no course changes hands meanwhile.
    PERFORM catalogue_replace(ARRAY(
        SELECT c.account_id::text FROM courses c
        JOIN course_lessons l ON l.course_id = c.id WHERE l.lesson_id = NEW.id
        FOR SHARE OF c));
    RETURN NULL;
END $$;
CREATE TRIGGER catalogue_changed AFTER UPDATE ON lessons
    FOR EACH ROW EXECUTE FUNCTION catalogue_lesson_changed();

CREATE FUNCTION catalogue_emptied() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE catalogue_revisions SET revision = gen_random_uuid();
    RETURN NULL;
END $$;
CREATE TRIGGER catalogue_emptied AFTER TRUNCATE ON accounts EXECUTE FUNCTION catalogue_emptied();
CREATE TRIGGER catalogue_emptied AFTER TRUNCATE ON courses EXECUTE FUNCTION catalogue_emptied();
CREATE TRIGGER catalogue_emptied AFTER TRUNCATE ON course_lessons EXECUTE FUNCTION catalogue_emptied();
CREATE TRIGGER catalogue_emptied AFTER TRUNCATE ON lessons EXECUTE FUNCTION catalogue_emptied();

INSERT INTO catalogue_revisions SELECT id, gen_random_uuid() FROM catalogue_accounts;
-- GRANT SELECT ON catalogue_revisions TO catalogue;
COMMIT;
