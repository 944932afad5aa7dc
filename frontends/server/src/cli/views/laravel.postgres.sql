-- Views for `catalogue serve --courses views`, over tables as Laravel creates them. Adapt each line that has
-- a comment, and run the whole file after each edit: `psql --set ON_ERROR_STOP=1 --file=views.sql`, which stops at the first
-- error. Then run `catalogue views check`.

-- Once, as a superuser or as an owner of the database with CREATEROLE: the role that `catalogue` connects as, and the schema of
-- its keys. Then put the role into the GRANT at the end of this file.
-- CREATE ROLE catalogue LOGIN PASSWORD 'PASSWORD';
-- GRANT catalogue TO SESSION_USER; -- a superuser does not need this
-- CREATE SCHEMA catalogue AUTHORIZATION catalogue;
-- GRANT USAGE ON SCHEMA public TO catalogue;

SET client_min_messages = warning;

-- The indexes for these views. On a large table in use, create each of them separately before, with CONCURRENTLY.
CREATE INDEX IF NOT EXISTS catalogue_list ON courses (user_id, created_at, slug COLLATE "C");
CREATE INDEX IF NOT EXISTS catalogue_course ON courses (user_id, slug);
CREATE INDEX IF NOT EXISTS catalogue_lessons ON lessons (course_id);

BEGIN;

-- The order in which requests read the views: another order could cause deadlocks with requests.
DROP VIEW IF EXISTS catalogue_courses, catalogue_modules, catalogue_accounts;

-- Never reuse the id of an account: the new account would own the keys of the old one. If you remove an account, revoke its keys
-- (`catalogue keys list --account ID`, `catalogue keys revoke`), and run `catalogue settings sign-out --account ID`.
CREATE VIEW catalogue_accounts AS
SELECT
    a.id,   -- the owner of courses: a number, a UUID or a text
    a.name  -- optional: the owner's name, shown only on pages of the developer settings
FROM users a;  -- the table of User

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
WHERE c.deleted_at IS NULL;  -- courses that are not deleted, or TRUE

CREATE VIEW catalogue_modules AS
SELECT
    c.user_id AS account_id,            -- as above
    c.slug AS course_slug,              -- as above
    -- 1, 2, 3 and so on, in the order of the modules
    row_number() OVER (PARTITION BY c.user_id, c.slug ORDER BY m.sort_order, m.id)::int AS number,
    m.title,                            -- never null
    COALESCE(m.summary, '') AS summary  -- never null, or '' AS summary; not the body
FROM lessons m                        -- the table of Lesson
JOIN courses c ON c.id = m.course_id  -- its belongsTo
WHERE c.deleted_at IS NULL            -- as above
  AND m.deleted_at IS NULL;           -- as above

-- If you have catalogue_revisions, replace all of them after each edit, or pages of the old views are still served:
-- UPDATE catalogue_revisions SET revision = gen_random_uuid();

-- Replace CURRENT_USER with the role that `catalogue` connects as. Each run needs this, because a new view does not inherit the
-- grants of the old one. Without them, each request gets a 500.
GRANT SELECT ON catalogue_accounts, catalogue_courses, catalogue_modules TO CURRENT_USER;

COMMIT;
