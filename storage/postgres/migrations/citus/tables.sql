-- Prepares the tables for distribution over the nodes of Citus by account: unique keys begin with the account's id, and a new
-- table maps digests and key ids to accounts, because neither a token nor a key id contains the account.
--
-- This is plain SQL, so a copy of such a database works on PostgreSQL too.

ALTER TABLE credentials DROP CONSTRAINT credentials_pkey;
ALTER TABLE credentials ADD CONSTRAINT credentials_pkey PRIMARY KEY (account_id, digest);

-- Rows never change, so that a revocation involves only the account's node.
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

-- A row may exist up to a day longer than its link or session.
CREATE TABLE sign_in_accounts (
    digest     BYTEA NOT NULL PRIMARY KEY,
    account_id TEXT COLLATE "C" NOT NULL,
    expires_at BIGINT NOT NULL
);

INSERT INTO sign_in_accounts (digest, account_id, expires_at) SELECT digest, account_id, expires_at FROM sign_ins;
CREATE INDEX sign_in_accounts_by_end ON sign_in_accounts (expires_at);
