-- Views for `catalogue serve --courses views`, over tables as Django creates them. Adapt each line that has
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
    a.id,               -- the owner of courses: a number, a UUID or a text
    a.username AS name  -- optional: the owner's name, shown only on pages of the developer settings
FROM auth_user a    -- the table of AUTH_USER_MODEL
WHERE a.is_active;  -- accounts that can have keys, or TRUE

DROP VIEW IF EXISTS catalogue_courses;
CREATE VIEW catalogue_courses AS
SELECT
    c.owner_id AS account_id,             -- the ForeignKey to the owner
    c.slug,                               -- unique within its account
    c.title,                              -- never null
    c.tagline,                            -- never null, or '' AS tagline
    c.language,                           -- like 'en', or 'en' AS language
    -- If courses have no time, a number that only grows: c.id AS created_at
    c.created_at,                         -- must never change: lists are ordered by it
    c.published_at,                       -- null if not published
    c.is_hidden AS hidden,                -- a BooleanField, or FALSE AS hidden
    NULLIF(c.access, '') AS access_mode,  -- null if empty, or NULL AS access_mode
    -- Number of rows in catalogue_modules
    -- If modules can be deleted, leave deleted ones out here and at the two places below: AND NOT m.is_deleted
    (SELECT count(*) FROM courses_module m WHERE m.course_id = c.id) AS module_count
FROM courses_course c    -- the model Course of the app courses
-- Drafts and hidden courses are listed. To leave them out, here and below: AND c.published_at IS NOT NULL AND NOT c.is_hidden
WHERE NOT +c.is_deleted;  -- courses that are not deleted, or TRUE; the + makes SQLite find courses by account

DROP VIEW IF EXISTS catalogue_modules;
CREATE VIEW catalogue_modules AS
SELECT
    c.owner_id AS account_id,  -- as above
    c.slug AS course_slug,     -- as above
    -- 1, 2, 3 and so on, in the order of the modules
    -- If modules can be deleted: AND NOT e.is_deleted
    (SELECT count(*) FROM courses_module e WHERE e.course_id = m.course_id AND (e."order", e.id) <= (m."order", m.id)) AS number,
    m.title,                   -- never null
    m.summary                  -- never null, or '' AS summary; not the body
FROM courses_module m                        -- the model Module
JOIN courses_course c ON c.id = m.course_id  -- its ForeignKey
WHERE NOT +c.is_deleted;                     -- as above; if modules can be deleted: AND NOT m.is_deleted

-- The indexes for these views. The first one contains the instant of `created_at`, because lists are ordered by it: if your column
-- has another name, replace it in all places. The columns after the slug are those of a list. Without them the index is smaller,
-- and a page looks up each course in the table.
CREATE INDEX IF NOT EXISTS catalogue_list ON courses_course (
    owner_id,
    coalesce(CASE typeof(created_at) WHEN 'integer' THEN created_at WHEN 'text' THEN CAST(strftime('%s', substr(created_at, 1, 19) || ltrim(substr(created_at, 20), '.0123456789')) AS INTEGER) * 1000000 + CAST(round(CAST('0' || substr(created_at, 20, 7) AS REAL) * 1000000) AS INTEGER) END, -1000000000000000000),
    slug,
    title, language, created_at, published_at, is_hidden, is_deleted
);
CREATE INDEX IF NOT EXISTS catalogue_course ON courses_course (owner_id, slug);

-- A migration that recreates a table drops its indexes and triggers: then run this file again, and your file for
-- catalogue_revisions if you have one.

COMMIT;
