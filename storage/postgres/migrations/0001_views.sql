-- Credentials, sign-ins, events and revocations as in `0001_initial.sql`, if courses are in views of the host application.
-- Accounts and courses belong to that application, so no foreign key refers to them, and there are no triggers.

CREATE TABLE credentials (
    digest       BYTEA NOT NULL PRIMARY KEY CHECK (octet_length(digest) = 32),
    account_id   TEXT COLLATE "C" NOT NULL,
    id           TEXT COLLATE "C" NOT NULL,
    kind         TEXT NOT NULL CHECK (kind IN ('api-key', 'oauth')),
    name         TEXT,
    shown_prefix TEXT NOT NULL DEFAULT '',
    scopes       TEXT NOT NULL,
    created_at   BIGINT NOT NULL CHECK (created_at BETWEEN -62167219200000000 AND 253402300799999999),
    expires_at   BIGINT CHECK (expires_at BETWEEN -62167219200000000 AND 253402300799999999),
    revoked_at   BIGINT CHECK (revoked_at BETWEEN -62167219200000000 AND 253402300799999999),
    last_used_at BIGINT CHECK (last_used_at BETWEEN -62167219200000000 AND 253402300799999999),
    replaced_by  TEXT COLLATE "C"
);

CREATE UNIQUE INDEX credentials_by_account ON credentials (account_id, id);
CREATE INDEX credentials_by_id ON credentials (id);
-- By their end: revocation or expiry, whichever is earlier. Credentials without an end come last.
CREATE INDEX credentials_by_end ON credentials
    (account_id, least(coalesce(revoked_at, 9223372036854775807), coalesce(expires_at, 9223372036854775807)), id);

CREATE TABLE sign_ins (
    digest     BYTEA NOT NULL PRIMARY KEY CHECK (octet_length(digest) = 32),
    account_id TEXT COLLATE "C" NOT NULL,
    kind       TEXT NOT NULL CHECK (kind IN ('link', 'session')),
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);

CREATE INDEX sign_ins_by_account ON sign_ins (account_id, created_at);
CREATE INDEX sign_ins_by_end ON sign_ins (expires_at);

CREATE TABLE credential_events (
    account_id    TEXT COLLATE "C" NOT NULL,
    id            TEXT COLLATE "C" NOT NULL,
    at            BIGINT NOT NULL,
    action        TEXT NOT NULL,
    actor         TEXT NOT NULL,
    credential_id TEXT COLLATE "C",
    name          TEXT,
    PRIMARY KEY (account_id, id)
);

CREATE INDEX credential_events_by_key ON credential_events (account_id, credential_id, at);

CREATE TABLE revoked_tokens (
    digest     BYTEA NOT NULL PRIMARY KEY CHECK (octet_length(digest) = 32),
    expires_at BIGINT NOT NULL,
    revoked_at BIGINT NOT NULL
);

CREATE INDEX revoked_tokens_by_end ON revoked_tokens (expires_at);
