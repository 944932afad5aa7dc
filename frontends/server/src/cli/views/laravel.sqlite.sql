-- Views for `catalogue serve --courses views`, over tables as Laravel makes them. Put your names where a comment
-- says what belongs there, and run all of it, again after each edit: `sqlite3 -bail FILE < views.sql`. Without -bail an
-- error would cost you a view. Then `catalogue views check`.
--
-- Times are texts like 2026-01-02 03:04:05.678 in UTC, with or without a fraction, or integers of microseconds. Hand them
-- through as they are: a list is ordered by the instants, and what is no time is told.

BEGIN;

DROP VIEW IF EXISTS catalogue_accounts;
-- An id is never given to another account, which would own the keys of the one before. Where an account goes, revoke its keys
-- (`catalogue keys list --account ID`, `catalogue keys revoke`), and run `catalogue settings sign-out --account ID`.
CREATE VIEW catalogue_accounts AS
SELECT
    a.id  -- whoever owns courses, with HasUuids; else CAST(a.id AS TEXT) AS id
FROM users a;  -- the table of User

DROP VIEW IF EXISTS catalogue_courses;
CREATE VIEW catalogue_courses AS
SELECT
    c.user_id AS account_id,             -- its belongsTo, cast as above
    c.slug,                              -- unique within its account
    c.title,                             -- never null
    COALESCE(c.tagline, '') AS tagline,  -- never null, or '' AS tagline
    c.locale AS language,                -- like 'en', or 'en' AS language
    c.created_at,                        -- a time that stays: it is the order of lists
    c.published_at,                      -- null where it is not published
    c.status = 'hidden' AS hidden,       -- a condition or a boolean, or FALSE AS hidden
    c.access AS access_mode,             -- or NULL AS access_mode
    -- As many as catalogue_modules has
    (SELECT count(*) FROM lessons m WHERE m.course_id = c.id AND m.deleted_at IS NULL) AS module_count
FROM courses c               -- the table of Course
WHERE +c.deleted_at IS NULL;  -- what is not deleted, or TRUE; with the + SQLite finds courses by their account

DROP VIEW IF EXISTS catalogue_modules;
CREATE VIEW catalogue_modules AS
SELECT
    c.user_id AS account_id,            -- as above
    c.slug AS course_slug,              -- as above
    -- 1, 2, 3, whatever the modules are ordered by
    (SELECT count(*) FROM lessons e
        WHERE e.course_id = m.course_id AND e.deleted_at IS NULL AND (e.sort_order, e.id) <= (m.sort_order, m.id)) AS number,
    m.title,                            -- never null
    COALESCE(m.summary, '') AS summary  -- never null, or '' AS summary; not the body
FROM lessons m                        -- the table of Lesson
JOIN courses c ON c.id = m.course_id  -- its belongsTo
WHERE +c.deleted_at IS NULL            -- as above
  AND m.deleted_at IS NULL;           -- as above

-- `catalogue doctor` prints the indexes that your tables lack for these views.

-- A migration that makes a table again drops its triggers: if you have catalogue_revisions, run its file again, too.

COMMIT;
