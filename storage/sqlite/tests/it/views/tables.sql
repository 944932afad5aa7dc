CREATE TABLE owners (id INTEGER PRIMARY KEY, login TEXT NOT NULL UNIQUE, gone INTEGER NOT NULL DEFAULT FALSE);

CREATE TABLE trainings (
    id INTEGER PRIMARY KEY, owner INTEGER NOT NULL REFERENCES owners (id), handle TEXT, name TEXT, subtitle TEXT, lang TEXT,
    made_at, live_at, is_hidden INTEGER, access TEXT
);

CREATE TABLE lessons (training INTEGER NOT NULL, place INTEGER, name TEXT, summary TEXT);
CREATE INDEX lessons_in_order ON lessons (training, place);

-- The columns compare regardless of case, which the API must not.

CREATE VIEW catalogue_accounts AS SELECT login COLLATE NOCASE AS id FROM owners WHERE NOT gone;

CREATE VIEW catalogue_courses AS
SELECT o.login COLLATE NOCASE AS account_id, t.handle COLLATE NOCASE AS slug, t.name AS title, t.subtitle AS tagline,
    t.lang AS language, t.made_at AS created_at, t.live_at AS published_at, t.is_hidden AS hidden, t.access AS access_mode,
    t.id AS pk
FROM trainings AS t JOIN owners AS o ON o.id = t.owner;

CREATE VIEW catalogue_modules AS
SELECT o.login COLLATE NOCASE AS account_id, t.handle COLLATE NOCASE AS course_slug, l.place AS number, l.name AS title,
    l.summary
FROM lessons AS l JOIN trainings AS t ON t.id = l.training JOIN owners AS o ON o.id = t.owner;
