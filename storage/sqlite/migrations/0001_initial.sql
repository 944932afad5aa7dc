-- Accounts, courses, modules, credentials, and the data of the developer settings.
--
-- Every primary and unique key begins with the account's id or is a digest, so that the same schema can
-- be distributed over machines by account. Texts are compared byte by byte. Times are microseconds since
-- 1970-01-01T00:00:00Z.

CREATE TABLE accounts (
    id       TEXT NOT NULL PRIMARY KEY,
    name     TEXT NOT NULL DEFAULT '',
    email    TEXT NOT NULL DEFAULT '',
    -- Replaced by a new value with every change to the account's courses or modules, in the same transaction.
    revision BLOB NOT NULL DEFAULT (randomblob(16))
) STRICT, WITHOUT ROWID;

-- Clustered in the order of lists, which read it backward: a page is one contiguous range of rows.
CREATE TABLE courses (
    account_id   TEXT    NOT NULL REFERENCES accounts (id),
    -- From the year 0000 to 9999. Rejects times in seconds or nanoseconds here, because every later read would fail.
    created_at   INTEGER NOT NULL CHECK (created_at BETWEEN -62167219200000000 AND 253402300799999999),
    slug         TEXT    NOT NULL CHECK (length(CAST(slug AS BLOB)) BETWEEN 1 AND 200 AND instr(slug, '/') = 0),
    title        TEXT    NOT NULL,
    tagline      TEXT    NOT NULL DEFAULT '',
    language     TEXT    NOT NULL,
    published_at INTEGER CHECK (published_at BETWEEN -62167219200000000 AND 253402300799999999),
    hidden       INTEGER NOT NULL DEFAULT 0 CHECK (hidden IN (0, 1)),
    access_mode  TEXT,
    -- Maintained by the triggers below; writers must not set it.
    module_count INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (account_id, created_at, slug)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX courses_by_slug ON courses (account_id, slug);

CREATE TABLE modules (
    account_id  TEXT    NOT NULL,
    course_slug TEXT    NOT NULL,
    number      INTEGER NOT NULL,
    title       TEXT    NOT NULL,
    summary     TEXT    NOT NULL DEFAULT '',
    PRIMARY KEY (account_id, course_slug, number)
) STRICT, WITHOUT ROWID;

-- Bodies are separate, so that reading headers never touches their pages. An empty body has no row.
CREATE TABLE module_contents (
    account_id  TEXT    NOT NULL,
    course_slug TEXT    NOT NULL,
    number      INTEGER NOT NULL,
    content     TEXT    NOT NULL,
    PRIMARY KEY (account_id, course_slug, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE credentials (
    -- The SHA-256 of the token; the token itself is not stored.
    digest       BLOB    NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
    account_id   TEXT    NOT NULL REFERENCES accounts (id),
    id           TEXT    NOT NULL,
    kind         TEXT    NOT NULL CHECK (kind IN ('api-key', 'oauth')),
    name         TEXT,
    shown_prefix TEXT    NOT NULL DEFAULT '',
    -- Names, separated by spaces.
    scopes       TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    revoked_at   INTEGER,
    -- As recorded by servers, which may omit uses.
    last_used_at INTEGER,
    -- The id of the successor of a rotated credential.
    replaced_by  TEXT
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX credentials_by_account ON credentials (account_id, id);
CREATE INDEX credentials_by_id ON credentials (id);
-- By their end: revocation or expiry, whichever is earlier. Credentials without an end come last.
CREATE INDEX credentials_by_end ON credentials
    (account_id, min(ifnull(revoked_at, 9223372036854775807), ifnull(expires_at, 9223372036854775807)), id);

-- Sign-in links and sessions of the developer settings.
CREATE TABLE sign_ins (
    -- The SHA-256 of the link's code or of the session's secret; neither is stored.
    digest     BLOB    NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
    account_id TEXT    NOT NULL REFERENCES accounts (id),
    kind       TEXT    NOT NULL CHECK (kind IN ('link', 'session')),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX sign_ins_by_account ON sign_ins (account_id, created_at);
-- Each new link removes some that expired long ago, of any account.
CREATE INDEX sign_ins_by_end ON sign_ins (expires_at);

CREATE TABLE credential_events (
    account_id    TEXT    NOT NULL REFERENCES accounts (id),
    -- `evt_` and a UUID of version 7, so ids are in the order of time.
    id            TEXT    NOT NULL,
    at            INTEGER NOT NULL,
    action        TEXT    NOT NULL,
    actor         TEXT    NOT NULL,
    -- The key and its name at that time, if the event is about a key.
    credential_id TEXT,
    name          TEXT,
    PRIMARY KEY (account_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX credential_events_by_key ON credential_events (account_id, credential_id, at, action);

-- Signed tokens of an authorization server that were revoked here. They name no account, so the removal of
-- an account keeps them.
CREATE TABLE revoked_tokens (
    -- The SHA-256 of the whole token, which is not stored.
    digest     BLOB    NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
    -- The token's expiry.
    expires_at INTEGER NOT NULL,
    revoked_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Each revocation removes some others whose token expired long ago.
CREATE INDEX revoked_tokens_by_end ON revoked_tokens (expires_at);

-- The triggers maintain the revision and the module count for every writer, even if it does not know them. They count again
-- instead of adding one, because `INSERT OR REPLACE` removes a row without firing a delete trigger.

CREATE TRIGGER accounts_deleted AFTER DELETE ON accounts BEGIN
    DELETE FROM courses WHERE account_id = OLD.id;
    DELETE FROM credentials WHERE account_id = OLD.id;
    DELETE FROM sign_ins WHERE account_id = OLD.id;
    DELETE FROM credential_events WHERE account_id = OLD.id;
END;

-- Other tables refer to an account by its id, so the id must not change.
CREATE TRIGGER accounts_keep_their_id BEFORE UPDATE OF id ON accounts WHEN OLD.id <> NEW.id BEGIN
    SELECT RAISE(ABORT, 'an account keeps its id; add another account and move the courses');
END;

CREATE TRIGGER courses_inserted AFTER INSERT ON courses BEGIN
    UPDATE accounts SET revision = randomblob(16) WHERE id = NEW.account_id;
    UPDATE courses
    SET module_count = (SELECT count(*) FROM modules WHERE account_id = NEW.account_id AND course_slug = NEW.slug)
    WHERE account_id = NEW.account_id AND slug = NEW.slug
        AND module_count <> (SELECT count(*) FROM modules WHERE account_id = NEW.account_id AND course_slug = NEW.slug);
END;

CREATE TRIGGER courses_updated AFTER UPDATE ON courses BEGIN
    UPDATE accounts SET revision = randomblob(16) WHERE id IN (OLD.account_id, NEW.account_id);
END;

CREATE TRIGGER courses_renamed AFTER UPDATE OF account_id, slug ON courses
WHEN OLD.account_id <> NEW.account_id OR OLD.slug <> NEW.slug BEGIN
    -- Modules of a course that `UPDATE OR REPLACE` has removed without firing a delete trigger.
    DELETE FROM modules WHERE account_id = NEW.account_id AND course_slug = NEW.slug;
    UPDATE modules SET account_id = NEW.account_id, course_slug = NEW.slug
    WHERE account_id = OLD.account_id AND course_slug = OLD.slug;
END;

CREATE TRIGGER courses_deleted AFTER DELETE ON courses BEGIN
    UPDATE accounts SET revision = randomblob(16) WHERE id = OLD.account_id;
    DELETE FROM modules WHERE account_id = OLD.account_id AND course_slug = OLD.slug;
END;

-- The count updates the course, whose trigger replaces the revision.
CREATE TRIGGER modules_inserted AFTER INSERT ON modules BEGIN
    UPDATE courses
    SET module_count = (SELECT count(*) FROM modules WHERE account_id = NEW.account_id AND course_slug = NEW.course_slug)
    WHERE account_id = NEW.account_id AND slug = NEW.course_slug;
END;

CREATE TRIGGER modules_updated AFTER UPDATE ON modules BEGIN
    UPDATE accounts SET revision = randomblob(16) WHERE id IN (OLD.account_id, NEW.account_id);
END;

CREATE TRIGGER modules_moved AFTER UPDATE OF account_id, course_slug, number ON modules BEGIN
    UPDATE module_contents SET account_id = NEW.account_id, course_slug = NEW.course_slug, number = NEW.number
    WHERE account_id = OLD.account_id AND course_slug = OLD.course_slug AND number = OLD.number;
    UPDATE courses
    SET module_count = (SELECT count(*) FROM modules WHERE account_id = OLD.account_id AND course_slug = OLD.course_slug)
    WHERE account_id = OLD.account_id AND slug = OLD.course_slug;
    UPDATE courses
    SET module_count = (SELECT count(*) FROM modules WHERE account_id = NEW.account_id AND course_slug = NEW.course_slug)
    WHERE account_id = NEW.account_id AND slug = NEW.course_slug;
END;

CREATE TRIGGER modules_deleted AFTER DELETE ON modules BEGIN
    DELETE FROM module_contents
    WHERE account_id = OLD.account_id AND course_slug = OLD.course_slug AND number = OLD.number;
    UPDATE courses
    SET module_count = (SELECT count(*) FROM modules WHERE account_id = OLD.account_id AND course_slug = OLD.course_slug)
    WHERE account_id = OLD.account_id AND slug = OLD.course_slug;
END;

CREATE TRIGGER module_contents_inserted AFTER INSERT ON module_contents BEGIN
    UPDATE accounts SET revision = randomblob(16) WHERE id = NEW.account_id;
END;

CREATE TRIGGER module_contents_updated AFTER UPDATE ON module_contents BEGIN
    UPDATE accounts SET revision = randomblob(16) WHERE id IN (OLD.account_id, NEW.account_id);
END;

CREATE TRIGGER module_contents_deleted AFTER DELETE ON module_contents BEGIN
    UPDATE accounts SET revision = randomblob(16) WHERE id = OLD.account_id;
END;

CREATE TRIGGER credential_events_stay BEFORE UPDATE ON credential_events BEGIN
    SELECT RAISE(ABORT, 'events stay as they are');
END;
