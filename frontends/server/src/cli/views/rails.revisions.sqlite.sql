-- Optional: without it `catalogue serve` renders each response again after any change of the file, also of sessions and jobs.
-- With it, each change of the views' rows replaces the account's revision in the same transaction, by any program that lets
-- triggers fire. Views that depend on the clock or on random numbers change without a commit: they are never cached.
--
-- Run this file again after each migration: to change a table, a framework recreates it, and SQLite drops its triggers. Until
-- they exist again, `catalogue serve` relies on changes of the file; `catalogue views check` and `doctor` name the table.
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS catalogue_revisions (account_id TEXT NOT NULL PRIMARY KEY, revision BLOB NOT NULL);

DROP VIEW IF EXISTS catalogue_changed;
CREATE VIEW catalogue_changed AS SELECT account_id FROM catalogue_revisions;
CREATE TRIGGER catalogue_replace INSTEAD OF INSERT ON catalogue_changed BEGIN
    DELETE FROM catalogue_revisions WHERE account_id = NEW.account_id;
    INSERT INTO catalogue_revisions VALUES (NEW.account_id, randomblob(16));
END;

DROP TRIGGER IF EXISTS catalogue_account_inserted;
CREATE TRIGGER catalogue_account_inserted AFTER INSERT ON accounts BEGIN
    INSERT INTO catalogue_changed VALUES (CAST(NEW.id AS TEXT));
END;
DROP TRIGGER IF EXISTS catalogue_account_deleted;
CREATE TRIGGER catalogue_account_deleted AFTER DELETE ON accounts BEGIN
    INSERT INTO catalogue_changed VALUES (CAST(OLD.id AS TEXT));
END;

DROP TRIGGER IF EXISTS catalogue_course_inserted;
CREATE TRIGGER catalogue_course_inserted AFTER INSERT ON courses BEGIN
    INSERT INTO catalogue_changed VALUES (CAST(NEW.account_id AS TEXT));
END;
DROP TRIGGER IF EXISTS catalogue_course_updated;
CREATE TRIGGER catalogue_course_updated AFTER UPDATE ON courses BEGIN
    INSERT INTO catalogue_changed VALUES (CAST(OLD.account_id AS TEXT));
    INSERT INTO catalogue_changed VALUES (CAST(NEW.account_id AS TEXT));
END;
DROP TRIGGER IF EXISTS catalogue_course_deleted;
CREATE TRIGGER catalogue_course_deleted AFTER DELETE ON courses BEGIN
    INSERT INTO catalogue_changed VALUES (CAST(OLD.account_id AS TEXT));
END;

DROP TRIGGER IF EXISTS catalogue_course_lesson_inserted;
CREATE TRIGGER catalogue_course_lesson_inserted AFTER INSERT ON course_lessons BEGIN
    INSERT INTO catalogue_changed SELECT CAST(account_id AS TEXT) FROM courses WHERE id = NEW.course_id;
END;
DROP TRIGGER IF EXISTS catalogue_course_lesson_updated;
CREATE TRIGGER catalogue_course_lesson_updated AFTER UPDATE ON course_lessons BEGIN
    INSERT INTO catalogue_changed SELECT CAST(account_id AS TEXT) FROM courses WHERE id = OLD.course_id;
    INSERT INTO catalogue_changed SELECT CAST(account_id AS TEXT) FROM courses WHERE id = NEW.course_id;
END;
DROP TRIGGER IF EXISTS catalogue_course_lesson_deleted;
CREATE TRIGGER catalogue_course_lesson_deleted AFTER DELETE ON course_lessons BEGIN
    INSERT INTO catalogue_changed SELECT CAST(account_id AS TEXT) FROM courses WHERE id = OLD.course_id;
END;

DROP TRIGGER IF EXISTS catalogue_lesson_inserted;
CREATE TRIGGER catalogue_lesson_inserted AFTER INSERT ON lessons BEGIN
    INSERT INTO catalogue_changed SELECT CAST(c.account_id AS TEXT) FROM courses c
        JOIN course_lessons l ON l.course_id = c.id WHERE l.lesson_id = NEW.id;
END;
DROP TRIGGER IF EXISTS catalogue_lesson_updated;
CREATE TRIGGER catalogue_lesson_updated AFTER UPDATE ON lessons BEGIN
    INSERT INTO catalogue_changed SELECT CAST(c.account_id AS TEXT) FROM courses c
        JOIN course_lessons l ON l.course_id = c.id WHERE l.lesson_id IN (OLD.id, NEW.id);
END;
DROP TRIGGER IF EXISTS catalogue_lesson_deleted;
CREATE TRIGGER catalogue_lesson_deleted AFTER DELETE ON lessons BEGIN
    INSERT INTO catalogue_changed SELECT CAST(c.account_id AS TEXT) FROM courses c
        JOIN course_lessons l ON l.course_id = c.id WHERE l.lesson_id = OLD.id;
END;

-- INSERT OR REPLACE removes a row with the same key without firing a trigger.
DROP TRIGGER IF EXISTS catalogue_course_replaced;
CREATE TRIGGER catalogue_course_replaced BEFORE INSERT ON courses BEGIN
    INSERT INTO catalogue_changed SELECT CAST(account_id AS TEXT) FROM courses WHERE id = NEW.id;
END;
DROP TRIGGER IF EXISTS catalogue_course_lesson_replaced;
CREATE TRIGGER catalogue_course_lesson_replaced BEFORE INSERT ON course_lessons BEGIN
    INSERT INTO catalogue_changed SELECT CAST(c.account_id AS TEXT) FROM courses c
        JOIN course_lessons l ON l.course_id = c.id WHERE l.id = NEW.id;
END;
DROP TRIGGER IF EXISTS catalogue_lesson_replaced;
CREATE TRIGGER catalogue_lesson_replaced BEFORE INSERT ON lessons BEGIN
    INSERT INTO catalogue_changed SELECT CAST(c.account_id AS TEXT) FROM courses c
        JOIN course_lessons l ON l.course_id = c.id WHERE l.lesson_id = NEW.id;
END;

INSERT OR REPLACE INTO catalogue_revisions SELECT id, randomblob(16) FROM catalogue_accounts;
COMMIT;
