-- Which accounts were changed last, so that who has read something of the others need not read it again after a commit. The
-- triggers tell it for every writer.

CREATE TABLE account_changes (
    number     INTEGER NOT NULL PRIMARY KEY,
    -- The account whose revision is another one; null where a credential or a revocation was changed, of whatever account.
    -- An account is told once until another change is: the last one may have been changed again.
    account_id TEXT,
    -- Tells this row from another of the same number, as a backup may have that was put back.
    nonce      BLOB    NOT NULL DEFAULT (randomblob(16))
) STRICT;

-- Readers that are further behind take all for changed.
CREATE TRIGGER account_changes_are_few AFTER INSERT ON account_changes BEGIN
    DELETE FROM account_changes WHERE number <= NEW.number - 1000;
END;

CREATE TRIGGER accounts_inserted AFTER INSERT ON accounts
WHEN (SELECT account_id FROM account_changes ORDER BY number DESC LIMIT 1) IS NOT NEW.id BEGIN
    INSERT INTO account_changes (account_id) VALUES (NEW.id);
END;

CREATE TRIGGER accounts_changed AFTER UPDATE OF revision ON accounts
WHEN (SELECT account_id FROM account_changes ORDER BY number DESC LIMIT 1) IS NOT NEW.id BEGIN
    INSERT INTO account_changes (account_id) VALUES (NEW.id);
END;

-- Nothing is left of an account that was removed.
CREATE TRIGGER accounts_removed AFTER DELETE ON accounts BEGIN
    DELETE FROM account_changes WHERE account_id = OLD.id;
    INSERT INTO account_changes (account_id) VALUES (NULL);
END;

CREATE TRIGGER credentials_inserted AFTER INSERT ON credentials BEGIN
    INSERT INTO account_changes (account_id) VALUES (NULL);
END;

CREATE TRIGGER credentials_updated
AFTER UPDATE OF digest, account_id, id, kind, scopes, expires_at, revoked_at ON credentials BEGIN
    INSERT INTO account_changes (account_id) VALUES (NULL);
END;

CREATE TRIGGER credentials_deleted AFTER DELETE ON credentials BEGIN
    INSERT INTO account_changes (account_id) VALUES (NULL);
END;

CREATE TRIGGER revoked_tokens_inserted AFTER INSERT ON revoked_tokens BEGIN
    INSERT INTO account_changes (account_id) VALUES (NULL);
END;

CREATE TRIGGER revoked_tokens_updated AFTER UPDATE ON revoked_tokens BEGIN
    INSERT INTO account_changes (account_id) VALUES (NULL);
END;

CREATE TRIGGER revoked_tokens_deleted AFTER DELETE ON revoked_tokens BEGIN
    INSERT INTO account_changes (account_id) VALUES (NULL);
END;

INSERT INTO account_changes (account_id) VALUES (NULL);
