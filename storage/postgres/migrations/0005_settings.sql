-- What the developer settings keep: links and sessions, and the log of what was done with an account's keys. A link's code and
-- a session's secret are nowhere, as is that of a credential: the digest stands for them.

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
