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
