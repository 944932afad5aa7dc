-- The triggers maintain revisions, module counts and references for every writer, even if it does not know them. They are not
-- part of the tables: an engine without triggers has only the tables, and its writers replace the revisions themselves. So do
-- the writes of this crate on every engine: they set `catalogue.writer` to `self` for their transaction, which disables the
-- triggers that maintain revisions and module counts.
--
-- A trigger runs once per statement, not once per row: a statement that writes a million courses replaces each revision
-- once. Each trigger locks its accounts by replacing their revisions before it counts. So writers to one account are
-- serialized, and each count sees what earlier writers have committed.

-- The functions keep this search path (`SET search_path FROM CURRENT`). So they change the catalogue's tables, even if the
-- names denote other tables in the writer's session. Unless `pg_temp` is named, PostgreSQL looks for temporary tables first.
SELECT set_config('search_path', format('%I, pg_temp', current_schema()), TRUE);

CREATE FUNCTION catalogue_courses_inserted() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    UPDATE accounts SET revision = gen_random_uuid() WHERE id IN (SELECT account_id FROM fresh);
    UPDATE courses AS c
    SET module_count = (SELECT count(*) FROM modules AS m WHERE m.account_id = c.account_id AND m.course_slug = c.slug)
    FROM fresh
    WHERE c.account_id = fresh.account_id AND c.slug = fresh.slug AND c.module_count
        <> (SELECT count(*) FROM modules AS m WHERE m.account_id = c.account_id AND m.course_slug = c.slug);
    RETURN NULL;
END $$;

CREATE FUNCTION catalogue_courses_updated() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    UPDATE accounts SET revision = gen_random_uuid()
    WHERE id IN (SELECT account_id FROM stale UNION SELECT account_id FROM fresh);
    RETURN NULL;
END $$;

CREATE FUNCTION catalogue_course_renamed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    UPDATE modules SET account_id = NEW.account_id, course_slug = NEW.slug
    WHERE account_id = OLD.account_id AND course_slug = OLD.slug;
    RETURN NULL;
END $$;

CREATE FUNCTION catalogue_courses_deleted() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    UPDATE accounts SET revision = gen_random_uuid() WHERE id IN (SELECT account_id FROM stale);
    DELETE FROM modules AS m USING stale WHERE m.account_id = stale.account_id AND m.course_slug = stale.slug;
    RETURN NULL;
END $$;

CREATE FUNCTION catalogue_modules_inserted() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    UPDATE accounts SET revision = gen_random_uuid() WHERE id IN (SELECT account_id FROM fresh);
    UPDATE courses AS c
    SET module_count = (SELECT count(*) FROM modules AS m WHERE m.account_id = c.account_id AND m.course_slug = c.slug)
    FROM (SELECT DISTINCT account_id, course_slug FROM fresh) AS changed
    WHERE c.account_id = changed.account_id AND c.slug = changed.course_slug;
    RETURN NULL;
END $$;

CREATE FUNCTION catalogue_modules_updated() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    UPDATE accounts SET revision = gen_random_uuid()
    WHERE id IN (SELECT account_id FROM stale UNION SELECT account_id FROM fresh);
    UPDATE courses AS c
    SET module_count = (SELECT count(*) FROM modules AS m WHERE m.account_id = c.account_id AND m.course_slug = c.slug)
    FROM (SELECT account_id, course_slug FROM stale UNION SELECT account_id, course_slug FROM fresh) AS changed
    WHERE c.account_id = changed.account_id AND c.slug = changed.course_slug AND c.module_count
        <> (SELECT count(*) FROM modules AS m WHERE m.account_id = c.account_id AND m.course_slug = c.slug);
    RETURN NULL;
END $$;

CREATE FUNCTION catalogue_module_moved() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    UPDATE module_contents SET account_id = NEW.account_id, course_slug = NEW.course_slug, number = NEW.number
    WHERE account_id = OLD.account_id AND course_slug = OLD.course_slug AND number = OLD.number;
    RETURN NULL;
END $$;

CREATE FUNCTION catalogue_modules_deleted() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    UPDATE accounts SET revision = gen_random_uuid() WHERE id IN (SELECT account_id FROM stale);
    DELETE FROM module_contents AS b USING stale
    WHERE b.account_id = stale.account_id AND b.course_slug = stale.course_slug AND b.number = stale.number;
    UPDATE courses AS c
    SET module_count = (SELECT count(*) FROM modules AS m WHERE m.account_id = c.account_id AND m.course_slug = c.slug)
    FROM (SELECT DISTINCT account_id, course_slug FROM stale) AS changed
    WHERE c.account_id = changed.account_id AND c.slug = changed.course_slug;
    RETURN NULL;
END $$;

CREATE FUNCTION catalogue_module_contents_changed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        UPDATE accounts SET revision = gen_random_uuid() WHERE id IN (SELECT account_id FROM stale);
    END IF;
    IF TG_OP <> 'DELETE' THEN
        UPDATE accounts SET revision = gen_random_uuid() WHERE id IN (SELECT account_id FROM fresh);
    END IF;
    RETURN NULL;
END $$;

-- PostgreSQL does not pass the rows of a TRUNCATE to triggers.
CREATE FUNCTION catalogue_truncated() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    UPDATE accounts SET revision = gen_random_uuid();
    DELETE FROM modules AS m
    WHERE TG_TABLE_NAME = 'courses'
        AND NOT EXISTS (SELECT 1 FROM courses AS c WHERE c.account_id = m.account_id AND c.slug = m.course_slug);
    DELETE FROM module_contents WHERE TG_TABLE_NAME = 'modules';
    UPDATE courses SET module_count = 0 WHERE TG_TABLE_NAME = 'modules';
    RETURN NULL;
END $$;

CREATE FUNCTION catalogue_account_keeps_its_id() RETURNS trigger LANGUAGE plpgsql
SET search_path FROM CURRENT AS $$
BEGIN
    RAISE EXCEPTION 'an account keeps its id; add another account and move the courses'
        USING ERRCODE = 'integrity_constraint_violation';
END $$;

-- No writer can change an event.
CREATE FUNCTION catalogue_events_stay() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    RAISE EXCEPTION 'events stay as they are' USING ERRCODE = 'integrity_constraint_violation';
END $$;

-- All other tables refer to an account by its id, so the id must not change.
CREATE TRIGGER accounts_keep_their_id BEFORE UPDATE OF id ON accounts
FOR EACH ROW WHEN (OLD.id <> NEW.id) EXECUTE FUNCTION catalogue_account_keeps_its_id();

CREATE TRIGGER courses_inserted AFTER INSERT ON courses REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT
WHEN (current_setting('catalogue.writer', TRUE) IS DISTINCT FROM 'self') EXECUTE FUNCTION catalogue_courses_inserted();

CREATE TRIGGER courses_updated AFTER UPDATE ON courses
REFERENCING OLD TABLE AS stale NEW TABLE AS fresh FOR EACH STATEMENT
WHEN (current_setting('catalogue.writer', TRUE) IS DISTINCT FROM 'self') EXECUTE FUNCTION catalogue_courses_updated();

CREATE TRIGGER courses_renamed AFTER UPDATE OF account_id, slug ON courses FOR EACH ROW
WHEN (OLD.account_id <> NEW.account_id OR OLD.slug <> NEW.slug) EXECUTE FUNCTION catalogue_course_renamed();

CREATE TRIGGER courses_deleted AFTER DELETE ON courses REFERENCING OLD TABLE AS stale FOR EACH STATEMENT
WHEN (current_setting('catalogue.writer', TRUE) IS DISTINCT FROM 'self') EXECUTE FUNCTION catalogue_courses_deleted();

CREATE TRIGGER courses_truncated AFTER TRUNCATE ON courses
FOR EACH STATEMENT EXECUTE FUNCTION catalogue_truncated();

CREATE TRIGGER modules_inserted AFTER INSERT ON modules REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT
WHEN (current_setting('catalogue.writer', TRUE) IS DISTINCT FROM 'self') EXECUTE FUNCTION catalogue_modules_inserted();

CREATE TRIGGER modules_updated AFTER UPDATE ON modules
REFERENCING OLD TABLE AS stale NEW TABLE AS fresh FOR EACH STATEMENT
WHEN (current_setting('catalogue.writer', TRUE) IS DISTINCT FROM 'self') EXECUTE FUNCTION catalogue_modules_updated();

CREATE TRIGGER modules_moved AFTER UPDATE OF account_id, course_slug, number ON modules FOR EACH ROW
WHEN (OLD.account_id <> NEW.account_id OR OLD.course_slug <> NEW.course_slug OR OLD.number <> NEW.number)
EXECUTE FUNCTION catalogue_module_moved();

CREATE TRIGGER modules_deleted AFTER DELETE ON modules REFERENCING OLD TABLE AS stale FOR EACH STATEMENT
WHEN (current_setting('catalogue.writer', TRUE) IS DISTINCT FROM 'self') EXECUTE FUNCTION catalogue_modules_deleted();

CREATE TRIGGER modules_truncated AFTER TRUNCATE ON modules
FOR EACH STATEMENT EXECUTE FUNCTION catalogue_truncated();

CREATE TRIGGER module_contents_inserted AFTER INSERT ON module_contents REFERENCING NEW TABLE AS fresh
FOR EACH STATEMENT WHEN (current_setting('catalogue.writer', TRUE) IS DISTINCT FROM 'self')
EXECUTE FUNCTION catalogue_module_contents_changed();

CREATE TRIGGER module_contents_updated AFTER UPDATE ON module_contents
REFERENCING OLD TABLE AS stale NEW TABLE AS fresh FOR EACH STATEMENT
WHEN (current_setting('catalogue.writer', TRUE) IS DISTINCT FROM 'self')
EXECUTE FUNCTION catalogue_module_contents_changed();

CREATE TRIGGER module_contents_deleted AFTER DELETE ON module_contents REFERENCING OLD TABLE AS stale
FOR EACH STATEMENT WHEN (current_setting('catalogue.writer', TRUE) IS DISTINCT FROM 'self')
EXECUTE FUNCTION catalogue_module_contents_changed();

CREATE TRIGGER module_contents_truncated AFTER TRUNCATE ON module_contents
FOR EACH STATEMENT EXECUTE FUNCTION catalogue_truncated();

CREATE TRIGGER credential_events_stay BEFORE UPDATE ON credential_events
FOR EACH ROW EXECUTE FUNCTION catalogue_events_stay();

-- These triggers also fire in sessions with `session_replication_role = replica`, which loaders set. Of these triggers, logical
-- replication fires only those for each row. The two triggers that reject changes are not listed, so they do not disturb it.
ALTER TABLE courses
    ENABLE ALWAYS TRIGGER courses_inserted, ENABLE ALWAYS TRIGGER courses_updated, ENABLE ALWAYS TRIGGER courses_renamed,
    ENABLE ALWAYS TRIGGER courses_deleted, ENABLE ALWAYS TRIGGER courses_truncated;
ALTER TABLE modules
    ENABLE ALWAYS TRIGGER modules_inserted, ENABLE ALWAYS TRIGGER modules_updated, ENABLE ALWAYS TRIGGER modules_moved,
    ENABLE ALWAYS TRIGGER modules_deleted, ENABLE ALWAYS TRIGGER modules_truncated;
ALTER TABLE module_contents
    ENABLE ALWAYS TRIGGER module_contents_inserted, ENABLE ALWAYS TRIGGER module_contents_updated,
    ENABLE ALWAYS TRIGGER module_contents_deleted, ENABLE ALWAYS TRIGGER module_contents_truncated;
