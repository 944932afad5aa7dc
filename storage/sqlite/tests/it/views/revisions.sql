-- Revisions that triggers replace with each change.

CREATE TABLE states (owner INTEGER PRIMARY KEY, state BLOB NOT NULL);

CREATE TRIGGER owner_inserted AFTER INSERT ON owners BEGIN
    INSERT OR REPLACE INTO states VALUES (NEW.id, randomblob(16));
END;
CREATE TRIGGER owner_updated AFTER UPDATE ON owners BEGIN
    UPDATE states SET state = randomblob(16) WHERE owner IN (OLD.id, NEW.id);
END;
CREATE TRIGGER owner_deleted AFTER DELETE ON owners BEGIN
    DELETE FROM states WHERE owner = OLD.id;
END;
CREATE TRIGGER training_inserted AFTER INSERT ON trainings BEGIN
    UPDATE states SET state = randomblob(16) WHERE owner = NEW.owner;
END;
CREATE TRIGGER training_updated AFTER UPDATE ON trainings BEGIN
    UPDATE states SET state = randomblob(16) WHERE owner IN (OLD.owner, NEW.owner);
END;
CREATE TRIGGER training_deleted AFTER DELETE ON trainings BEGIN
    UPDATE states SET state = randomblob(16) WHERE owner = OLD.owner;
END;
CREATE TRIGGER lesson_inserted AFTER INSERT ON lessons BEGIN
    UPDATE states SET state = randomblob(16) WHERE owner = (SELECT owner FROM trainings WHERE id = NEW.training);
END;
CREATE TRIGGER lesson_updated AFTER UPDATE ON lessons BEGIN
    UPDATE states SET state = randomblob(16)
        WHERE owner IN (SELECT owner FROM trainings WHERE id IN (OLD.training, NEW.training));
END;
CREATE TRIGGER lesson_deleted AFTER DELETE ON lessons BEGIN
    UPDATE states SET state = randomblob(16) WHERE owner = (SELECT owner FROM trainings WHERE id = OLD.training);
END;

CREATE VIEW catalogue_revisions AS
SELECT login COLLATE NOCASE AS account_id, state AS revision FROM states AS s JOIN owners AS o ON o.id = s.owner;
