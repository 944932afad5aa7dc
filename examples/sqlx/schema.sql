-- The tables of a course platform. Times are microseconds since 1970.

CREATE TABLE users (
    id       INTEGER PRIMARY KEY,
    email    TEXT NOT NULL UNIQUE,
    -- Added for the catalogue: a random value for the state of the user's courses, which the triggers below replace. Until
    -- the first change it is NULL, and responses are not cached.
    revision BLOB
);

CREATE TABLE sessions (
    id         INTEGER PRIMARY KEY,
    user_id    INTEGER NOT NULL REFERENCES users (id),
    -- The SHA-256 of the secret in the cookie.
    digest     BLOB    NOT NULL UNIQUE,
    expires_at INTEGER NOT NULL
);

CREATE TABLE courses (
    id           INTEGER PRIMARY KEY,
    user_id      INTEGER NOT NULL REFERENCES users (id),
    -- The check was added for the catalogue (`catalogue_core::is_slug`): no request finds a course with another slug.
    slug         TEXT    NOT NULL CHECK (
        length(CAST(slug AS BLOB)) BETWEEN 1 AND 200 AND instr(slug, char(0)) = 0
        AND slug NOT GLOB '*[/' || char(1) || '-' || char(31) || char(127) || '-' || char(159) || ']*'
    ),
    title        TEXT    NOT NULL,
    tagline      TEXT    NOT NULL DEFAULT '',
    language     TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    published_at INTEGER,
    hidden       INTEGER NOT NULL DEFAULT FALSE,
    access_mode  TEXT,
    UNIQUE (user_id, slug)
);

-- Added for the catalogue: a page is one contiguous range of the index, read without a sort.
CREATE INDEX courses_newest_first ON courses (user_id, created_at, slug);

CREATE TABLE lessons (
    course_id INTEGER NOT NULL REFERENCES courses (id) ON DELETE CASCADE,
    position  INTEGER NOT NULL,
    title     TEXT    NOT NULL,
    summary   TEXT    NOT NULL,
    body      TEXT    NOT NULL,
    PRIMARY KEY (course_id, position)
);

-- Added for the catalogue: each change that a response can show replaces the revision, in the change's transaction.
CREATE TRIGGER course_inserted AFTER INSERT ON courses BEGIN
    UPDATE users SET revision = randomblob(16) WHERE id = NEW.user_id;
END;
CREATE TRIGGER course_updated AFTER UPDATE ON courses BEGIN
    UPDATE users SET revision = randomblob(16) WHERE id IN (OLD.user_id, NEW.user_id);
END;
CREATE TRIGGER course_deleted AFTER DELETE ON courses BEGIN
    UPDATE users SET revision = randomblob(16) WHERE id = OLD.user_id;
END;
CREATE TRIGGER lesson_inserted AFTER INSERT ON lessons BEGIN
    UPDATE users SET revision = randomblob(16) WHERE id = (SELECT user_id FROM courses WHERE id = NEW.course_id);
END;
CREATE TRIGGER lesson_updated AFTER UPDATE ON lessons BEGIN
    UPDATE users SET revision = randomblob(16)
    WHERE id IN (SELECT user_id FROM courses WHERE id IN (OLD.course_id, NEW.course_id));
END;
CREATE TRIGGER lesson_deleted AFTER DELETE ON lessons BEGIN
    UPDATE users SET revision = randomblob(16) WHERE id = (SELECT user_id FROM courses WHERE id = OLD.course_id);
END;

-- Added for the catalogue.
CREATE TABLE api_keys (
    id         TEXT    PRIMARY KEY,
    user_id    INTEGER NOT NULL REFERENCES users (id),
    name       TEXT,
    -- The SHA-256 of the key; the key itself is not stored.
    digest     BLOB    NOT NULL UNIQUE,
    scopes     TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER
);
