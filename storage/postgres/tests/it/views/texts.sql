CREATE TABLE owners (id TEXT PRIMARY KEY, gone BOOLEAN NOT NULL DEFAULT FALSE);

CREATE TABLE trainings (
    id        BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    owner     TEXT NOT NULL REFERENCES owners ON DELETE CASCADE,
    handle    VARCHAR(200) NOT NULL,
    name      TEXT NOT NULL,
    subtitle  TEXT NOT NULL,
    lang      VARCHAR NOT NULL,
    made_at   TIMESTAMPTZ NOT NULL,
    live_at   TIMESTAMPTZ,
    is_hidden BOOLEAN NOT NULL,
    access    TEXT
);

CREATE TABLE lessons (
    training BIGINT NOT NULL REFERENCES trainings ON DELETE CASCADE,
    place    INTEGER NOT NULL,
    name     TEXT NOT NULL,
    summary  TEXT NOT NULL,
    PRIMARY KEY (training, place)
);

CREATE VIEW catalogue_accounts AS SELECT id FROM owners WHERE NOT gone;

CREATE VIEW catalogue_courses AS
SELECT owner AS account_id, handle AS slug, name AS title, subtitle AS tagline, lang AS language, made_at AS created_at,
    live_at AS published_at, is_hidden AS hidden, access AS access_mode
FROM trainings;

CREATE VIEW catalogue_modules AS
SELECT t.owner AS account_id, t.handle AS course_slug, l.place AS number, l.name AS title, l.summary
FROM lessons AS l JOIN trainings AS t ON t.id = l.training;
