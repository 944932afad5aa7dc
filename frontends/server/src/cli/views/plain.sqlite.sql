-- Views for `catalogue serve --courses views`, over tables of any shape. Adapt each line that has
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
FROM accounts a  -- your table
WHERE TRUE;      -- accounts that can have keys

DROP VIEW IF EXISTS catalogue_courses;
CREATE VIEW catalogue_courses AS
SELECT
    c.account_id,                        -- the column with the account
    c.slug,                              -- unique within its account
    c.title,                             -- never null
    COALESCE(c.tagline, '') AS tagline,  -- never null, or '' AS tagline
    c.language,                          -- like 'en', or 'en' AS language
    -- If courses have no time, a number that only grows: c.id AS created_at
    c.created_at,                        -- must never change: lists are ordered by it
    c.published_at,                      -- null if not published
    c.hidden,                            -- a boolean, or FALSE AS hidden
    c.access_mode,                       -- text or null, or NULL AS access_mode
    -- Number of rows in catalogue_modules
    -- If modules can be deleted, leave deleted ones out here and at the two places below: AND m.deleted_at IS NULL
    (SELECT count(*) FROM modules m WHERE m.course_id = c.id) AS module_count
FROM courses c  -- your table
-- Drafts and hidden courses are listed. To leave them out, here and below: AND c.published_at IS NOT NULL AND NOT c.hidden
WHERE TRUE;     -- courses that are not deleted

DROP VIEW IF EXISTS catalogue_modules;
CREATE VIEW catalogue_modules AS
SELECT
    c.account_id,                       -- as above
    c.slug AS course_slug,              -- as above
    -- 1, 2, 3 and so on, in the order of the modules
    -- If modules can be deleted: AND e.deleted_at IS NULL
    (SELECT count(*) FROM modules e WHERE e.course_id = m.course_id AND (e.position, e.id) <= (m.position, m.id)) AS number,
    m.title,                            -- never null
    COALESCE(m.summary, '') AS summary  -- never null, or '' AS summary; not the body
FROM modules m                        -- your table
JOIN courses c ON c.id = m.course_id  -- the course of a module
WHERE TRUE;                           -- as above; if modules can be deleted: AND m.deleted_at IS NULL

-- The indexes for these views. The first one contains the instant of `created_at`, because lists are ordered by it: if your column
-- has another name, replace it in all places. The columns after the slug are those of a list. Without them the index is smaller,
-- and a page looks up each course in the table.
CREATE INDEX IF NOT EXISTS catalogue_list ON courses (
    account_id,
    coalesce(CASE typeof(created_at) WHEN 'integer' THEN created_at WHEN 'text' THEN CAST(strftime('%s', substr(created_at, 1, 19) || ltrim(substr(created_at, 20), '.0123456789')) AS INTEGER) * 1000000 + CAST(round(CAST('0' || substr(created_at, 20, 7) AS REAL) * 1000000) AS INTEGER) END, -1000000000000000000),
    slug,
    title, language, created_at, published_at, hidden
);
CREATE INDEX IF NOT EXISTS catalogue_course ON courses (account_id, slug);
CREATE INDEX IF NOT EXISTS catalogue_lessons ON modules (course_id);

-- A migration that recreates a table drops its indexes and triggers: then run this file again, and your file for
-- catalogue_revisions if you have one.

COMMIT;
