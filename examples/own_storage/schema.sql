-- The tables of a school, which are older than its use of the catalogue.

CREATE TABLE users (
    id    INTEGER PRIMARY KEY,
    login TEXT NOT NULL UNIQUE
);

CREATE TABLE trainings (
    id         INTEGER PRIMARY KEY,
    owner      INTEGER NOT NULL REFERENCES users (id),
    handle     TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    subtitle   TEXT,
    lang       TEXT    NOT NULL,
    -- 'draft', 'live', 'retired'
    status     TEXT    NOT NULL DEFAULT 'draft',
    -- The format of `datetime('now')`: '2026-01-02 03:04:05', in UTC.
    live_since TEXT,
    -- Seconds since 1970.
    made_at    INTEGER NOT NULL DEFAULT (unixepoch()),
    UNIQUE (owner, handle)
);

-- Added for the catalogue: a page is one contiguous range of the index, read without a sort.
CREATE INDEX trainings_newest_first ON trainings (owner, made_at, handle);

CREATE TABLE lessons (
    training INTEGER NOT NULL REFERENCES trainings (id) ON DELETE CASCADE,
    -- Ascending in the course, with gaps.
    place    INTEGER NOT NULL,
    heading  TEXT    NOT NULL,
    abstract TEXT,
    text     TEXT    NOT NULL DEFAULT '',
    PRIMARY KEY (training, place)
);

CREATE TABLE access_keys (
    id       INTEGER PRIMARY KEY,
    user     INTEGER NOT NULL REFERENCES users (id),
    -- The SHA-256 of the key; the key itself is not stored.
    sha256   BLOB    NOT NULL UNIQUE,
    rights   TEXT    NOT NULL DEFAULT 'read:courses',
    -- Seconds since 1970.
    ends_at  INTEGER,
    ended_at INTEGER
);
