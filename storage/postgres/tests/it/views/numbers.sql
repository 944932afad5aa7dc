CREATE TABLE owners (
    id       BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    login    TEXT NOT NULL UNIQUE,
    revision UUID NOT NULL DEFAULT gen_random_uuid(),
    gone     BOOLEAN NOT NULL DEFAULT FALSE
);

CREATE TABLE trainings (
    id        BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    owner     BIGINT NOT NULL REFERENCES owners ON DELETE CASCADE,
    handle    TEXT NOT NULL,
    name      TEXT NOT NULL,
    subtitle  TEXT NOT NULL,
    lang      TEXT NOT NULL,
    made_at   TIMESTAMP NOT NULL,
    live_at   BIGINT,
    is_hidden BOOLEAN NOT NULL,
    access    TEXT,
    lessons   INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE lessons (
    training BIGINT NOT NULL REFERENCES trainings ON DELETE CASCADE,
    place    INTEGER NOT NULL,
    name     TEXT NOT NULL,
    summary  TEXT NOT NULL,
    PRIMARY KEY (training, place)
);

-- Called by the trigger function `changed`: checks of triggers include the functions that they call.
CREATE FUNCTION touch(owner BIGINT) RETURNS void LANGUAGE sql SET search_path FROM CURRENT AS $$
    UPDATE owners SET revision = gen_random_uuid() WHERE id = owner
$$;

CREATE FUNCTION changed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM touch(coalesce(NEW.owner, OLD.owner));
    RETURN NULL;
END $$;

CREATE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE ON trainings FOR EACH ROW EXECUTE FUNCTION changed();

CREATE FUNCTION counted() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    UPDATE trainings SET lessons = (SELECT count(*) FROM lessons WHERE training = id)
    WHERE id = coalesce(NEW.training, OLD.training);
    RETURN NULL;
END $$;

CREATE TRIGGER counted AFTER INSERT OR UPDATE OR DELETE ON lessons FOR EACH ROW EXECUTE FUNCTION counted();

CREATE FUNCTION emptied() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    UPDATE trainings SET lessons = 0;
    UPDATE owners SET revision = gen_random_uuid();
    RETURN NULL;
END $$;

CREATE TRIGGER emptied AFTER TRUNCATE ON trainings EXECUTE FUNCTION emptied();
CREATE TRIGGER emptied AFTER TRUNCATE ON lessons EXECUTE FUNCTION emptied();

-- Nothing to do: the revision is a column of its owner.
CREATE FUNCTION unchanged() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER unchanged AFTER INSERT OR UPDATE OF id OR DELETE OR TRUNCATE ON owners EXECUTE FUNCTION unchanged();

CREATE VIEW catalogue_accounts AS SELECT id FROM owners WHERE NOT gone;

CREATE VIEW catalogue_courses AS
SELECT owner AS account_id, handle AS slug, name AS title, subtitle AS tagline, lang AS language,
    made_at AS created_at, live_at AS published_at, is_hidden AS hidden, access AS access_mode, lessons AS module_count
FROM trainings;

CREATE VIEW catalogue_modules AS
SELECT t.owner AS account_id, t.handle AS course_slug,
    row_number() OVER (PARTITION BY t.owner, t.handle ORDER BY l.place) AS number, l.name AS title, l.summary
FROM lessons AS l JOIN trainings AS t ON t.id = l.training;

CREATE VIEW catalogue_revisions AS SELECT id AS account_id, revision FROM owners;
