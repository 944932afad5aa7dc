-- Signed tokens of an authorization server that were revoked here. They name no account, so they go with none.

CREATE TABLE revoked_tokens (
    -- The SHA-256 of the whole token, which is nowhere.
    digest     BLOB    NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
    -- The token's own.
    expires_at INTEGER NOT NULL,
    revoked_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Each revocation removes some whose token has been over for long.
CREATE INDEX revoked_tokens_by_end ON revoked_tokens (expires_at);
