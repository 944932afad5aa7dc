-- The tables of a course platform. Times are microseconds since 1970.

CREATE TABLE users (
    id    INTEGER PRIMARY KEY,
    email TEXT NOT NULL UNIQUE
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
    slug         TEXT    NOT NULL,
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
