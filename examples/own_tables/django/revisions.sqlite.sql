-- Optional: without it `catalogue serve` makes its answers anew after each change of the file, of sessions and jobs too. Each
-- change of what the views show replaces the account's revision in its own transaction, whoever writes. Not for views that read
-- the clock or a random number: they change without a commit.
BEGIN;
CREATE TABLE catalogue_revisions (account_id TEXT NOT NULL PRIMARY KEY, revision BLOB NOT NULL);

CREATE VIEW catalogue_changed AS SELECT account_id FROM catalogue_revisions;
CREATE TRIGGER catalogue_replace INSTEAD OF INSERT ON catalogue_changed BEGIN
    DELETE FROM catalogue_revisions WHERE account_id = NEW.account_id;
    INSERT INTO catalogue_revisions VALUES (NEW.account_id, randomblob(16));
END;

CREATE TRIGGER catalogue_account_inserted AFTER INSERT ON auth_user BEGIN
    INSERT INTO catalogue_changed VALUES (CAST(NEW.id AS TEXT));
END;
CREATE TRIGGER catalogue_account_updated AFTER UPDATE OF is_active ON auth_user BEGIN
    INSERT INTO catalogue_changed VALUES (CAST(OLD.id AS TEXT));
    INSERT INTO catalogue_changed VALUES (CAST(NEW.id AS TEXT));
END;
CREATE TRIGGER catalogue_account_deleted AFTER DELETE ON auth_user BEGIN
    INSERT INTO catalogue_changed VALUES (CAST(OLD.id AS TEXT));
END;

CREATE TRIGGER catalogue_course_inserted AFTER INSERT ON courses_course BEGIN
    INSERT INTO catalogue_changed VALUES (CAST(NEW.owner_id AS TEXT));
END;
CREATE TRIGGER catalogue_course_updated AFTER UPDATE ON courses_course BEGIN
    INSERT INTO catalogue_changed VALUES (CAST(OLD.owner_id AS TEXT));
    INSERT INTO catalogue_changed VALUES (CAST(NEW.owner_id AS TEXT));
END;
CREATE TRIGGER catalogue_course_deleted AFTER DELETE ON courses_course BEGIN
    INSERT INTO catalogue_changed VALUES (CAST(OLD.owner_id AS TEXT));
END;

CREATE TRIGGER catalogue_module_inserted AFTER INSERT ON courses_module BEGIN
    INSERT INTO catalogue_changed SELECT CAST(owner_id AS TEXT) FROM courses_course WHERE id = NEW.course_id;
END;
CREATE TRIGGER catalogue_module_updated AFTER UPDATE ON courses_module BEGIN
    INSERT INTO catalogue_changed SELECT CAST(owner_id AS TEXT) FROM courses_course WHERE id = OLD.course_id;
    INSERT INTO catalogue_changed SELECT CAST(owner_id AS TEXT) FROM courses_course WHERE id = NEW.course_id;
END;
CREATE TRIGGER catalogue_module_deleted AFTER DELETE ON courses_module BEGIN
    INSERT INTO catalogue_changed SELECT CAST(owner_id AS TEXT) FROM courses_course WHERE id = OLD.course_id;
END;

-- INSERT OR REPLACE removes the row of the same key without a trigger.
CREATE TRIGGER catalogue_course_replaced BEFORE INSERT ON courses_course BEGIN
    INSERT INTO catalogue_changed SELECT CAST(owner_id AS TEXT) FROM courses_course WHERE id = NEW.id;
END;
CREATE TRIGGER catalogue_module_replaced BEFORE INSERT ON courses_module BEGIN
    INSERT INTO catalogue_changed SELECT CAST(c.owner_id AS TEXT) FROM courses_course c
        JOIN courses_module m ON m.course_id = c.id WHERE m.id = NEW.id;
END;

INSERT INTO catalogue_revisions SELECT id, randomblob(16) FROM catalogue_accounts;
COMMIT;
