-- Tables instead of views: they accept every value.

CREATE TABLE catalogue_accounts (id TEXT);

CREATE TABLE catalogue_courses (
    account_id TEXT, slug TEXT, title TEXT, tagline TEXT, language TEXT, created_at TIMESTAMPTZ, published_at TIMESTAMPTZ,
    hidden BOOLEAN, access_mode TEXT, module_count BIGINT
);

CREATE TABLE catalogue_modules (account_id TEXT, course_slug TEXT, number INTEGER, title TEXT, summary TEXT);

CREATE TABLE catalogue_revisions (account_id TEXT, revision BYTEA);

INSERT INTO catalogue_accounts VALUES ('acc'), ('other');
INSERT INTO catalogue_courses
SELECT account, slug, 'Title', '', 'en', '2024-05-01 10:00:00.123456Z', NULL, FALSE, NULL, 2
FROM unnest(ARRAY['acc', 'other']) AS account, unnest(ARRAY['bad', 'good']) AS slug;
INSERT INTO catalogue_modules
SELECT account_id, slug, number, 'Title', '' FROM catalogue_courses, generate_series(1, 2) AS number;
INSERT INTO catalogue_revisions VALUES ('acc', decode(repeat('ab', 16), 'hex'));

CREATE OR REPLACE FUNCTION changed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    UPDATE catalogue_revisions SET revision = uuid_send(gen_random_uuid());
    RETURN NULL;
END $$;
CREATE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON catalogue_accounts EXECUTE FUNCTION changed();
CREATE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON catalogue_courses EXECUTE FUNCTION changed();
CREATE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON catalogue_modules EXECUTE FUNCTION changed();
