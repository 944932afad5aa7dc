-- Accounts, courses, modules, credentials, and the data of the developer settings: the same tables as in SQLite.
--
-- Every primary and unique key begins with the account's id or a digest. `citus/tables.sql` changes the keys of credentials and
-- sign-ins, so that the tables can be distributed over machines by account. Keys are compared byte by byte (collation "C"),
-- whatever the database's collation is.
-- Times are microseconds since 1970-01-01T00:00:00Z.

CREATE TABLE accounts (
    id       TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name     TEXT NOT NULL DEFAULT '',
    email    TEXT NOT NULL DEFAULT '',
    -- Replaced by a new value with every change to the account's courses or modules, in the same transaction.
    revision UUID NOT NULL DEFAULT gen_random_uuid()
);

CREATE TABLE courses (
    account_id   TEXT COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    -- From the year 0000 to 9999. Rejects times in seconds or nanoseconds here, because every later read would fail.
    created_at   BIGINT NOT NULL CHECK (created_at BETWEEN -62167219200000000 AND 253402300799999999),
    slug         TEXT COLLATE "C" NOT NULL CHECK (octet_length(slug) BETWEEN 1 AND 200 AND strpos(slug, '/') = 0),
    title        TEXT NOT NULL,
    tagline      TEXT NOT NULL DEFAULT '',
    language     TEXT NOT NULL,
    published_at BIGINT CHECK (published_at BETWEEN -62167219200000000 AND 253402300799999999),
    hidden       BOOLEAN NOT NULL DEFAULT FALSE,
    access_mode  TEXT,
    -- Maintained by the triggers, or by each writer on engines without triggers.
    module_count BIGINT NOT NULL DEFAULT 0,
    -- The order of lists, which read it backwards.
    PRIMARY KEY (account_id, created_at, slug)
);

CREATE UNIQUE INDEX courses_by_slug ON courses (account_id, slug);

CREATE TABLE modules (
    account_id  TEXT COLLATE "C" NOT NULL,
    course_slug TEXT COLLATE "C" NOT NULL,
    number      BIGINT NOT NULL,
    title       TEXT NOT NULL,
    summary     TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (account_id, course_slug, number)
);

-- Bodies are separate, so that reading headers never touches their pages. An empty body has no row.
CREATE TABLE module_contents (
    account_id  TEXT COLLATE "C" NOT NULL,
    course_slug TEXT COLLATE "C" NOT NULL,
    number      BIGINT NOT NULL,
    content     TEXT NOT NULL,
    PRIMARY KEY (account_id, course_slug, number)
);

CREATE TABLE credentials (
    -- The SHA-256 of the token; the token itself is not stored.
    digest       BYTEA NOT NULL PRIMARY KEY CHECK (octet_length(digest) = 32),
    account_id   TEXT COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    id           TEXT COLLATE "C" NOT NULL,
    kind         TEXT NOT NULL CHECK (kind IN ('api-key', 'oauth')),
    name         TEXT,
    shown_prefix TEXT NOT NULL DEFAULT '',
    -- Names, separated by spaces.
    scopes       TEXT NOT NULL,
    created_at   BIGINT NOT NULL CHECK (created_at BETWEEN -62167219200000000 AND 253402300799999999),
    expires_at   BIGINT CHECK (expires_at BETWEEN -62167219200000000 AND 253402300799999999),
    revoked_at   BIGINT CHECK (revoked_at BETWEEN -62167219200000000 AND 253402300799999999),
    -- As recorded by servers, which may omit uses.
    last_used_at BIGINT CHECK (last_used_at BETWEEN -62167219200000000 AND 253402300799999999),
    -- The id of the successor of a rotated credential.
    replaced_by  TEXT COLLATE "C"
);

CREATE UNIQUE INDEX credentials_by_account ON credentials (account_id, id);
CREATE INDEX credentials_by_id ON credentials (id);
-- By their end: revocation or expiry, whichever is earlier. Credentials without an end come last.
CREATE INDEX credentials_by_end ON credentials
    (account_id, least(coalesce(revoked_at, 9223372036854775807), coalesce(expires_at, 9223372036854775807)), id);

-- Sign-in links and sessions of the developer settings. Of a link's code and a session's secret, only the digest is stored.
CREATE TABLE sign_ins (
    digest     BYTEA NOT NULL PRIMARY KEY CHECK (octet_length(digest) = 32),
    account_id TEXT COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    kind       TEXT NOT NULL CHECK (kind IN ('link', 'session')),
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);

CREATE INDEX sign_ins_by_account ON sign_ins (account_id, created_at);
-- Each new link removes some links and sessions, of any account, that expired at least a day ago.
CREATE INDEX sign_ins_by_end ON sign_ins (expires_at);

CREATE TABLE credential_events (
    account_id    TEXT COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    -- `evt_` and a UUID of version 7, so ids are in the order of time.
    id            TEXT COLLATE "C" NOT NULL,
    at            BIGINT NOT NULL,
    action        TEXT NOT NULL,
    actor         TEXT NOT NULL,
    credential_id TEXT COLLATE "C",
    name          TEXT,
    PRIMARY KEY (account_id, id)
);

CREATE INDEX credential_events_by_key ON credential_events (account_id, credential_id, at);

-- Signed tokens of an authorization server that were revoked here, by the SHA-256 of the whole token. They name no account, so
-- the removal of an account keeps them.
CREATE TABLE revoked_tokens (
    digest     BYTEA NOT NULL PRIMARY KEY CHECK (octet_length(digest) = 32),
    -- The token's expiry.
    expires_at BIGINT NOT NULL,
    revoked_at BIGINT NOT NULL
);

-- Each revocation removes some others whose token expired at least a day ago.
CREATE INDEX revoked_tokens_by_end ON revoked_tokens (expires_at);
