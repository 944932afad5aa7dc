-- Accounts, courses, modules, credentials, and what the developer settings keep: the same tables as SQLite's.
--
-- Every primary and unique key begins with the account's id (that of credentials is the digest), so that the tables can
-- be spread over machines by account. Keys are compared byte by byte (collation "C") whatever the database's collation.
-- Times are microseconds since 1970-01-01T00:00:00Z.

CREATE TABLE accounts (
    id       TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name     TEXT NOT NULL DEFAULT '',
    email    TEXT NOT NULL DEFAULT '',
    -- Replaced by a fresh value, in the same transaction, with every change to the account's courses or modules.
    revision UUID NOT NULL DEFAULT gen_random_uuid()
);

CREATE TABLE courses (
    account_id   TEXT COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    -- From the year 0000 to 9999: a time in seconds or nanoseconds is refused here and not by every later read.
    created_at   BIGINT NOT NULL CHECK (created_at BETWEEN -62167219200000000 AND 253402300799999999),
    slug         TEXT COLLATE "C" NOT NULL CHECK (octet_length(slug) BETWEEN 1 AND 200 AND strpos(slug, '/') = 0),
    title        TEXT NOT NULL,
    tagline      TEXT NOT NULL DEFAULT '',
    language     TEXT NOT NULL,
    published_at BIGINT CHECK (published_at BETWEEN -62167219200000000 AND 253402300799999999),
    hidden       BOOLEAN NOT NULL DEFAULT FALSE,
    access_mode  TEXT,
    -- Kept by the triggers; where there are none, by each writer.
    module_count BIGINT NOT NULL DEFAULT 0,
    -- In the order of a list, read backwards.
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

-- Bodies stand apart, so that reading headers never touches their pages. An empty body has no row.
CREATE TABLE module_contents (
    account_id  TEXT COLLATE "C" NOT NULL,
    course_slug TEXT COLLATE "C" NOT NULL,
    number      BIGINT NOT NULL,
    content     TEXT NOT NULL,
    PRIMARY KEY (account_id, course_slug, number)
);

CREATE TABLE credentials (
    -- The SHA-256 of the token; the token itself is nowhere.
    digest       BYTEA NOT NULL PRIMARY KEY CHECK (octet_length(digest) = 32),
    account_id   TEXT COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    id           TEXT COLLATE "C" NOT NULL,
    kind         TEXT NOT NULL CHECK (kind IN ('api-key', 'oauth')),
    name         TEXT,
    shown_prefix TEXT NOT NULL DEFAULT '',
    -- Names, separated by blanks.
    scopes       TEXT NOT NULL,
    created_at   BIGINT NOT NULL CHECK (created_at BETWEEN -62167219200000000 AND 253402300799999999),
    expires_at   BIGINT CHECK (expires_at BETWEEN -62167219200000000 AND 253402300799999999),
    revoked_at   BIGINT CHECK (revoked_at BETWEEN -62167219200000000 AND 253402300799999999),
    -- As far as servers have noted it.
    last_used_at BIGINT CHECK (last_used_at BETWEEN -62167219200000000 AND 253402300799999999),
    -- The id of the credential that takes the place of one that was rotated.
    replaced_by  TEXT COLLATE "C"
);

CREATE UNIQUE INDEX credentials_by_account ON credentials (account_id, id);
CREATE INDEX credentials_by_id ON credentials (id);
-- By their end: a revocation or an expiry, whichever is earlier; what has neither comes last.
CREATE INDEX credentials_by_end ON credentials
    (account_id, least(coalesce(revoked_at, 9223372036854775807), coalesce(expires_at, 9223372036854775807)), id);

-- Sign-in links and sessions of the developer settings. A link's code and a session's secret are nowhere: the digest stands
-- for them.
CREATE TABLE sign_ins (
    digest     BYTEA NOT NULL PRIMARY KEY CHECK (octet_length(digest) = 32),
    account_id TEXT COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    kind       TEXT NOT NULL CHECK (kind IN ('link', 'session')),
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);

CREATE INDEX sign_ins_by_account ON sign_ins (account_id, created_at);
-- Each link that is made removes some that have been over for long, of whatever account.
CREATE INDEX sign_ins_by_end ON sign_ins (expires_at);

CREATE TABLE credential_events (
    account_id    TEXT COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    -- `evt_` and a UUID of version 7: the order of time.
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
-- they go with none.
CREATE TABLE revoked_tokens (
    digest     BYTEA NOT NULL PRIMARY KEY CHECK (octet_length(digest) = 32),
    -- The token's own.
    expires_at BIGINT NOT NULL,
    revoked_at BIGINT NOT NULL
);

-- Each revocation removes some whose token has been over for long.
CREATE INDEX revoked_tokens_by_end ON revoked_tokens (expires_at);
