-- Views for `catalogue serve --courses views`, over tables as Ruby on Rails makes them. Put your names where a comment
-- says what belongs there, and run all of it, again after each edit: `psql --set ON_ERROR_STOP=1 --file=views.sql`,
-- which ends with an error where there is one. Then `catalogue views check`.

SET client_min_messages = warning;

-- The indexes for these views. On a large table that is written to, run each alone before, with CONCURRENTLY.
CREATE INDEX IF NOT EXISTS catalogue_list ON courses (account_id, created_at, slug COLLATE "C");
CREATE INDEX IF NOT EXISTS catalogue_course ON courses (account_id, slug);

BEGIN;

-- In this order, in which requests read them; in another, a request and this could wait for each other.
DROP VIEW IF EXISTS catalogue_courses, catalogue_modules, catalogue_accounts;

-- An id is never given to another account, which would own the keys of the one before. Where an account goes, revoke its keys
-- (`catalogue keys list --account ID`, `catalogue keys revoke`), and run `catalogue settings sign-out --account ID`.
CREATE VIEW catalogue_accounts AS
SELECT
    a.id  -- whoever owns courses: a number, a UUID or a text
FROM accounts a;  -- the table of Account

CREATE VIEW catalogue_courses AS
SELECT
    c.account_id,                        -- belongs_to :account
    c.slug,                              -- unique within its account
    c.title,                             -- never null
    COALESCE(c.tagline, '') AS tagline,  -- never null, or '' AS tagline
    c.language,                          -- like 'en', or 'en' AS language
    c.created_at,                        -- a time that stays: it is the order of lists
    c.published_at,                      -- null where it is not published
    c.hidden,                            -- a boolean, or FALSE AS hidden
    -- The names of the enum, or NULL AS access_mode
    CASE c.access_mode WHEN 0 THEN 'free' WHEN 1 THEN 'paid' END AS access_mode,
    -- As many as catalogue_modules has; or a counter cache
    (SELECT count(*) FROM course_lessons l WHERE l.course_id = c.id) AS module_count
FROM courses c                 -- the table of Course
WHERE c.discarded_at IS NULL;  -- what is not deleted, or TRUE

CREATE VIEW catalogue_modules AS
SELECT
    c.account_id,                       -- as above
    c.slug AS course_slug,              -- as above
    -- 1, 2, 3, whatever the modules are ordered by
    row_number() OVER (PARTITION BY c.account_id, c.slug ORDER BY l.position, l.id)::int AS number,
    m.title,                            -- never null
    COALESCE(m.summary, '') AS summary  -- never null, or '' AS summary; not the body
FROM course_lessons l                 -- has_many :lessons, through: :course_lessons
JOIN lessons m ON m.id = l.lesson_id  -- the table of Lesson
JOIN courses c ON c.id = l.course_id
WHERE c.discarded_at IS NULL;         -- as above

-- If you have catalogue_revisions, each edit must replace all of them, so that no page of the old views is served on:
-- UPDATE catalogue_revisions SET revision = gen_random_uuid();

-- The role that `catalogue` connects as, in the place of CURRENT_USER. It stands here since a view that is made again has
-- none of the old one's grants: without them, each request is answered 500.
GRANT SELECT ON catalogue_accounts, catalogue_courses, catalogue_modules TO CURRENT_USER;

COMMIT;
