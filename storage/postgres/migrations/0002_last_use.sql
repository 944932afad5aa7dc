-- When each credential was last used, as far as servers have noted it.

ALTER TABLE credentials ADD COLUMN last_used_at BIGINT;

-- By itself, and with the name that PostgreSQL would give it: Citus takes no constraint along with a column.
ALTER TABLE credentials ADD CONSTRAINT credentials_last_used_at_check
    CHECK (last_used_at BETWEEN -62167219200000000 AND 253402300799999999);
