-- Credentials and sign-ins in a separate file, if courses are read from views in the database of the host application. Accounts
-- are rows of such a view, so no foreign key refers to them.

CREATE TABLE credentials (
    -- The SHA-256 of the token; the token itself is not stored.
    digest       BLOB    NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
    account_id   TEXT    NOT NULL,
    id           TEXT    NOT NULL,
    kind         TEXT    NOT NULL CHECK (kind IN ('api-key', 'oauth')),
    name         TEXT,
    shown_prefix TEXT    NOT NULL DEFAULT '',
    -- Names, separated by spaces.
    scopes       TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    revoked_at   INTEGER,
    last_used_at INTEGER,
    -- The id of the successor of a rotated credential.
    replaced_by  TEXT
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX credentials_by_account ON credentials (account_id, id);
CREATE INDEX credentials_by_id ON credentials (id);
-- By their end: revocation or expiry, whichever is earlier. Credentials without an end come last.
CREATE INDEX credentials_by_end ON credentials
    (account_id, min(ifnull(revoked_at, 9223372036854775807), ifnull(expires_at, 9223372036854775807)), id);

CREATE TABLE credential_events (
    account_id    TEXT    NOT NULL,
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

CREATE TRIGGER credential_events_stay BEFORE UPDATE ON credential_events BEGIN
    SELECT RAISE(ABORT, 'events stay as they are');
END;

CREATE TABLE sign_ins (
    -- The SHA-256 of the link's code or of the session's secret; neither is stored.
    digest     BLOB    NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
    account_id TEXT    NOT NULL,
    kind       TEXT    NOT NULL CHECK (kind IN ('link', 'session')),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX sign_ins_by_account ON sign_ins (account_id, created_at);
-- Each new link removes some that expired long ago, of any account.
CREATE INDEX sign_ins_by_end ON sign_ins (expires_at);

-- Signed tokens of an authorization server that were revoked here. They name no account.
CREATE TABLE revoked_tokens (
    -- The SHA-256 of the whole token, which is not stored.
    digest     BLOB    NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
    -- The token's expiry.
    expires_at INTEGER NOT NULL,
    revoked_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Each revocation removes some others whose token expired long ago.
CREATE INDEX revoked_tokens_by_end ON revoked_tokens (expires_at);
