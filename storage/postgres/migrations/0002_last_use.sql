-- When each credential was last used, as far as servers have noted it.

ALTER TABLE credentials
    ADD COLUMN last_used_at BIGINT CHECK (last_used_at BETWEEN -62167219200000000 AND 253402300799999999);
