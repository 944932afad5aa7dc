-- Views for `catalogue serve --courses views`, over tables as Ruby on Rails makes them. Put your names where a comment
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
    CAST(a.id AS TEXT) AS id  -- whoever owns courses
FROM accounts a;  -- the table of Account

DROP VIEW IF EXISTS catalogue_courses;
CREATE VIEW catalogue_courses AS
SELECT
    CAST(c.account_id AS TEXT) AS account_id,  -- belongs_to :account
    c.slug,                                    -- unique within its account
    c.title,                                   -- never null
    COALESCE(c.tagline, '') AS tagline,        -- never null, or '' AS tagline
    c.language,                                -- like 'en', or 'en' AS language
    c.created_at,                              -- a time that stays: it is the order of lists
    c.published_at,                            -- null where it is not published
    c.hidden,                                  -- a boolean, or FALSE AS hidden
    -- The names of the enum, or NULL AS access_mode
    CASE c.access_mode WHEN 0 THEN 'free' WHEN 1 THEN 'paid' END AS access_mode,
    -- As many as catalogue_modules has; or a counter cache
    (SELECT count(*) FROM course_lessons l WHERE l.course_id = c.id) AS module_count
FROM courses c                 -- the table of Course
WHERE +c.discarded_at IS NULL;  -- what is not deleted, or TRUE; with the + SQLite finds courses by their account

DROP VIEW IF EXISTS catalogue_modules;
CREATE VIEW catalogue_modules AS
SELECT
    CAST(c.account_id AS TEXT) AS account_id,  -- as above
    c.slug AS course_slug,                     -- as above
    -- 1, 2, 3, whatever the modules are ordered by
    (SELECT count(*) FROM course_lessons e WHERE e.course_id = l.course_id AND (e.position, e.id) <= (l.position, l.id)) AS number,
    m.title,                                   -- never null
    COALESCE(m.summary, '') AS summary         -- never null, or '' AS summary; not the body
FROM course_lessons l                 -- has_many :lessons, through: :course_lessons
JOIN lessons m ON m.id = l.lesson_id  -- the table of Lesson
JOIN courses c ON c.id = l.course_id
WHERE +c.discarded_at IS NULL;         -- as above

-- `catalogue doctor` prints the indexes that your tables lack for these views.

-- A migration that makes a table again drops its triggers: if you have catalogue_revisions, run its file again, too.

COMMIT;
