-- Views for `catalogue serve --courses views`, over tables as Django creates them. Adapt each line that has
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
CREATE INDEX IF NOT EXISTS catalogue_list ON courses_course (owner_id, created_at, slug COLLATE "C");
CREATE INDEX IF NOT EXISTS catalogue_course ON courses_course (owner_id, slug);

BEGIN;

-- The order in which requests read the views: another order could cause deadlocks with requests.
DROP VIEW IF EXISTS catalogue_courses, catalogue_modules, catalogue_accounts;

-- Never reuse the id of an account: the new account would own the keys of the old one. If you remove an account, revoke its keys
-- (`catalogue keys list --account ID`, `catalogue keys revoke`), and run `catalogue settings sign-out --account ID`.
CREATE VIEW catalogue_accounts AS
SELECT
    a.id,               -- the owner of courses: a number, a UUID or a text
    a.username AS name  -- optional: the owner's name, shown only on pages of the developer settings
FROM auth_user a    -- the table of AUTH_USER_MODEL
WHERE a.is_active;  -- accounts that can have keys, or TRUE

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
    -- If modules can be deleted, leave deleted ones out here and at the place below: AND NOT m.is_deleted
    (SELECT count(*) FROM courses_module m WHERE m.course_id = c.id) AS module_count
FROM courses_course c    -- the model Course of the app courses
-- Drafts and hidden courses are listed. To leave them out, here and below: AND c.published_at IS NOT NULL AND NOT c.is_hidden
WHERE NOT c.is_deleted;  -- courses that are not deleted, or TRUE

CREATE VIEW catalogue_modules AS
SELECT
    c.owner_id AS account_id,  -- as above
    c.slug AS course_slug,     -- as above
    -- 1, 2, 3 and so on, in the order of the modules
    row_number() OVER (PARTITION BY c.owner_id, c.slug ORDER BY m."order", m.id)::int AS number,
    m.title,                   -- never null
    m.summary                  -- never null, or '' AS summary; not the body
FROM courses_module m                        -- the model Module
JOIN courses_course c ON c.id = m.course_id  -- its ForeignKey
WHERE NOT c.is_deleted;                      -- as above; if modules can be deleted: AND NOT m.is_deleted

-- If you have catalogue_revisions, replace all of them after each edit, or pages of the old views are still served:
-- UPDATE catalogue_revisions SET revision = gen_random_uuid();

-- Replace CURRENT_USER with the role that `catalogue` connects as. Each run needs this, because a new view does not inherit the
-- grants of the old one. Without them, each request gets a 500.
GRANT SELECT ON catalogue_accounts, catalogue_courses, catalogue_modules TO CURRENT_USER;

COMMIT;
