-- What the tables need before they are spread over the nodes of Citus by account: unique keys that begin with the account's
-- id, and which account a digest belongs to, as a token and an id of a key say nothing of it.
--
-- All of it is plain SQL, so a copy of such a database works on PostgreSQL too.

ALTER TABLE credentials DROP CONSTRAINT credentials_pkey;
ALTER TABLE credentials ADD CONSTRAINT credentials_pkey PRIMARY KEY (account_id, digest);

-- Never changed, so that a revocation is a matter of the account's node alone.
CREATE TABLE credential_accounts (
    digest     BYTEA NOT NULL PRIMARY KEY,
    account_id TEXT COLLATE "C" NOT NULL,
    id         TEXT COLLATE "C" NOT NULL
);

INSERT INTO credential_accounts (digest, account_id, id) SELECT digest, account_id, id FROM credentials;
CREATE INDEX credential_accounts_by_id ON credential_accounts (id);
CREATE INDEX credential_accounts_by_account ON credential_accounts (account_id);

ALTER TABLE sign_ins DROP CONSTRAINT sign_ins_pkey;
ALTER TABLE sign_ins ADD CONSTRAINT sign_ins_pkey PRIMARY KEY (account_id, digest);

-- A row may outlive its link or session by a day.
CREATE TABLE sign_in_accounts (
    digest     BYTEA NOT NULL PRIMARY KEY,
    account_id TEXT COLLATE "C" NOT NULL,
    expires_at BIGINT NOT NULL
);

INSERT INTO sign_in_accounts (digest, account_id, expires_at) SELECT digest, account_id, expires_at FROM sign_ins;
CREATE INDEX sign_in_accounts_by_end ON sign_in_accounts (expires_at);
