-- Views for `catalogue serve --courses views`, over tables as Laravel creates them. Adapt each line that has
-- a comment, and run the whole file after each edit: `sqlite3 -bail FILE < views.sql`. Without -bail, an error would remove a
-- view. Then run `catalogue views check`.
--
-- Times are texts like 2026-01-02 03:04:05.678 in UTC, with or without a fraction, or integers of microseconds. Do not
-- convert them: lists are ordered by the instants, and invalid times are reported.

BEGIN IMMEDIATE;

DROP VIEW IF EXISTS catalogue_accounts;
-- Never reuse the id of an account: the new account would own the keys of the old one. If you remove an account, revoke its keys
-- (`catalogue keys list --account ID`, `catalogue keys revoke`), and run `catalogue settings sign-out --account ID`.
CREATE VIEW catalogue_accounts AS
SELECT
    a.id,   -- the owner of courses: a number, a UUID or a text
    a.name  -- optional: the owner's name, shown only on pages of the developer settings
FROM users a;  -- the table of User

DROP VIEW IF EXISTS catalogue_courses;
CREATE VIEW catalogue_courses AS
SELECT
    c.user_id AS account_id,             -- its belongsTo
    c.slug,                              -- unique within its account
    c.title,                             -- never null
    COALESCE(c.tagline, '') AS tagline,  -- never null, or '' AS tagline
    c.locale AS language,                -- like 'en', or 'en' AS language
    -- If courses have no time, a number that only grows: c.id AS created_at
    c.created_at,                        -- must never change: lists are ordered by it
    c.published_at,                      -- null if not published
    c.status = 'hidden' AS hidden,       -- a condition or a boolean, or FALSE AS hidden
    c.access AS access_mode,             -- or NULL AS access_mode
    -- Number of rows in catalogue_modules
    (SELECT count(*) FROM lessons m WHERE m.course_id = c.id AND m.deleted_at IS NULL) AS module_count
FROM courses c               -- the table of Course
-- Drafts and hidden courses are listed. To leave them out, here and below: AND c.published_at IS NOT NULL AND c.status <> 'hidden'
WHERE +c.deleted_at IS NULL;  -- courses that are not deleted, or TRUE; the + makes SQLite find courses by account

DROP VIEW IF EXISTS catalogue_modules;
CREATE VIEW catalogue_modules AS
SELECT
    c.user_id AS account_id,            -- as above
    c.slug AS course_slug,              -- as above
    -- 1, 2, 3 and so on, in the order of the modules
    (SELECT count(*) FROM lessons e
        WHERE e.course_id = m.course_id AND e.deleted_at IS NULL AND (e.sort_order, e.id) <= (m.sort_order, m.id)) AS number,
    m.title,                            -- never null
    COALESCE(m.summary, '') AS summary  -- never null, or '' AS summary; not the body
FROM lessons m                        -- the table of Lesson
JOIN courses c ON c.id = m.course_id  -- its belongsTo
WHERE +c.deleted_at IS NULL            -- as above
  AND m.deleted_at IS NULL;           -- as above

-- The indexes for these views. The first one contains the instant of `created_at`, because lists are ordered by it: if your column
-- has another name, replace it in all places. The columns after the slug are those of a list. Without them the index is smaller,
-- and a page looks up each course in the table.
CREATE INDEX IF NOT EXISTS catalogue_list ON courses (
    user_id,
    coalesce(CASE typeof(created_at) WHEN 'integer' THEN created_at WHEN 'text' THEN CAST(strftime('%s', substr(created_at, 1, 19) || ltrim(substr(created_at, 20), '.0123456789')) AS INTEGER) * 1000000 + CAST(round(CAST('0' || substr(created_at, 20, 7) AS REAL) * 1000000) AS INTEGER) END, -1000000000000000000),
    slug,
    id, title, locale, created_at, published_at, status, deleted_at
);
CREATE INDEX IF NOT EXISTS catalogue_course ON courses (user_id, slug);
CREATE INDEX IF NOT EXISTS catalogue_lessons ON lessons (course_id);

-- A migration that recreates a table drops its indexes and triggers: then run this file again, and your file for
-- catalogue_revisions if you have one.

COMMIT;
