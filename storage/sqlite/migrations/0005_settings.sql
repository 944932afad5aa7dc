-- Sign-in links and sessions of the developer settings, and the log of what was done with an account's keys.

CREATE TABLE sign_ins (
    -- The SHA-256 of the link's code or of the session's secret; neither is anywhere.
    digest     BLOB    NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
    account_id TEXT    NOT NULL REFERENCES accounts (id),
    kind       TEXT    NOT NULL CHECK (kind IN ('link', 'session')),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX sign_ins_by_account ON sign_ins (account_id, created_at);
-- Each link that is made removes some that have been over for long, of whatever account.
CREATE INDEX sign_ins_by_end ON sign_ins (expires_at);

CREATE TABLE credential_events (
    account_id    TEXT    NOT NULL REFERENCES accounts (id),
    -- `evt_` and a UUID of version 7, so that the order of ids is that of time.
    id            TEXT    NOT NULL,
    at            INTEGER NOT NULL,
    action        TEXT    NOT NULL,
    actor         TEXT    NOT NULL,
    -- The key and its name then, where it was done to a key.
    credential_id TEXT,
    name          TEXT,
    PRIMARY KEY (account_id, id)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER credential_events_stay BEFORE UPDATE ON credential_events BEGIN
    SELECT RAISE(ABORT, 'events stay as they are');
END;

DROP TRIGGER accounts_deleted;
CREATE TRIGGER accounts_deleted AFTER DELETE ON accounts BEGIN
    DELETE FROM courses WHERE account_id = OLD.id;
    DELETE FROM credentials WHERE account_id = OLD.id;
    DELETE FROM sign_ins WHERE account_id = OLD.id;
    DELETE FROM credential_events WHERE account_id = OLD.id;
END;
