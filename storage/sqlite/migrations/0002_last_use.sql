-- When each credential was last used, as far as servers have noted it. No trigger minds it: a use changes no course.

ALTER TABLE credentials ADD COLUMN last_used_at INTEGER;
