-- Credentials and sign-ins where courses are read from another program's views, in a file of their own. Their accounts are rows of
-- such a view, so nothing refers to them.

CREATE TABLE credentials (
    -- The SHA-256 of the token; the token itself is nowhere.
    digest       BLOB    NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
    account_id   TEXT    NOT NULL,
    id           TEXT    NOT NULL,
    kind         TEXT    NOT NULL CHECK (kind IN ('api-key', 'oauth')),
    name         TEXT,
    shown_prefix TEXT    NOT NULL DEFAULT '',
    -- Names, separated by blanks.
    scopes       TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    revoked_at   INTEGER,
    last_used_at INTEGER,
    -- The id of the credential that takes the place of one that was rotated.
    replaced_by  TEXT
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX credentials_by_account ON credentials (account_id, id);
CREATE INDEX credentials_by_id ON credentials (id);
-- By their end: a revocation or an expiry, whichever is earlier; what has neither comes last.
CREATE INDEX credentials_by_end ON credentials
    (account_id, min(ifnull(revoked_at, 9223372036854775807), ifnull(expires_at, 9223372036854775807)), id);

CREATE TABLE credential_events (
    account_id    TEXT    NOT NULL,
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

CREATE INDEX credential_events_by_key ON credential_events (account_id, credential_id, at, action);

CREATE TRIGGER credential_events_stay BEFORE UPDATE ON credential_events BEGIN
    SELECT RAISE(ABORT, 'events stay as they are');
END;

CREATE TABLE sign_ins (
    -- The SHA-256 of the link's code or of the session's secret; neither is anywhere.
    digest     BLOB    NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
    account_id TEXT    NOT NULL,
    kind       TEXT    NOT NULL CHECK (kind IN ('link', 'session')),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX sign_ins_by_account ON sign_ins (account_id, created_at);
-- Each link that is made removes some that have been over for long, of whatever account.
CREATE INDEX sign_ins_by_end ON sign_ins (expires_at);

-- Signed tokens of an authorization server that were revoked here. They name no account.
CREATE TABLE revoked_tokens (
    -- The SHA-256 of the whole token, which is nowhere.
    digest     BLOB    NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
    -- The token's own.
    expires_at INTEGER NOT NULL,
    revoked_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Each revocation removes some whose token has been over for long.
CREATE INDEX revoked_tokens_by_end ON revoked_tokens (expires_at);
