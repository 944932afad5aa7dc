-- Views for `catalogue serve --courses views`, over tables as Ruby on Rails creates them. Adapt each line that has
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
CREATE INDEX IF NOT EXISTS catalogue_list ON courses (account_id, created_at, slug COLLATE "C");
CREATE INDEX IF NOT EXISTS catalogue_course ON courses (account_id, slug);

BEGIN;

-- The order in which requests read the views: another order could cause deadlocks with requests.
DROP VIEW IF EXISTS catalogue_courses, catalogue_modules, catalogue_accounts;

-- Never reuse the id of an account: the new account would own the keys of the old one. If you remove an account, revoke its keys
-- (`catalogue keys list --account ID`, `catalogue keys revoke`), and run `catalogue settings sign-out --account ID`.
CREATE VIEW catalogue_accounts AS
SELECT
    a.id,   -- the owner of courses: a number, a UUID or a text
    a.name  -- optional: the owner's name, shown only on pages of the developer settings
FROM accounts a;  -- the table of Account

CREATE VIEW catalogue_courses AS
SELECT
    c.account_id,                        -- belongs_to :account
    c.slug,                              -- unique within its account
    c.title,                             -- never null
    COALESCE(c.tagline, '') AS tagline,  -- never null, or '' AS tagline
    c.language,                          -- like 'en', or 'en' AS language
    -- If courses have no time, a number that only grows: c.id AS created_at
    c.created_at,                        -- must never change: lists are ordered by it
    c.published_at,                      -- null if not published
    c.hidden,                            -- a boolean, or FALSE AS hidden
    -- The names of the enum, or NULL AS access_mode
    CASE c.access_mode WHEN 0 THEN 'free' WHEN 1 THEN 'paid' END AS access_mode,
    -- Number of rows in catalogue_modules; or a counter cache
    -- If lessons can be deleted, leave deleted ones out here and at the place below:
    -- JOIN lessons m ON m.id = l.lesson_id AND m.discarded_at IS NULL
    (SELECT count(*) FROM course_lessons l WHERE l.course_id = c.id) AS module_count
FROM courses c                 -- the table of Course
-- Drafts and hidden courses are listed. To leave them out, here and below: AND c.published_at IS NOT NULL AND NOT c.hidden
WHERE c.discarded_at IS NULL;  -- courses that are not deleted, or TRUE

CREATE VIEW catalogue_modules AS
SELECT
    c.account_id,                       -- as above
    c.slug AS course_slug,              -- as above
    -- 1, 2, 3 and so on, in the order of the modules
    row_number() OVER (PARTITION BY c.account_id, c.slug ORDER BY l.position, l.id)::int AS number,
    m.title,                            -- never null
    COALESCE(m.summary, '') AS summary  -- never null, or '' AS summary; not the body
FROM course_lessons l                 -- has_many :lessons, through: :course_lessons
JOIN lessons m ON m.id = l.lesson_id  -- the table of Lesson
JOIN courses c ON c.id = l.course_id
WHERE c.discarded_at IS NULL;         -- as above; if lessons can be deleted: AND m.discarded_at IS NULL

-- If you have catalogue_revisions, replace all of them after each edit, or pages of the old views are still served:
-- UPDATE catalogue_revisions SET revision = gen_random_uuid();

-- Replace CURRENT_USER with the role that `catalogue` connects as. Each run needs this, because a new view does not inherit the
-- grants of the old one. Without them, each request gets a 500.
GRANT SELECT ON catalogue_accounts, catalogue_courses, catalogue_modules TO CURRENT_USER;

COMMIT;
