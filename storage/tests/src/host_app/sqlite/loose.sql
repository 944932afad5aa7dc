-- Tables instead of views: they accept every value.

CREATE TABLE catalogue_accounts (id);

CREATE TABLE catalogue_courses (
    account_id, slug, title, tagline, language, created_at, published_at, hidden, access_mode, module_count
);

CREATE TABLE catalogue_modules (account_id, course_slug, number, title, summary);

CREATE TABLE catalogue_revisions (account_id, revision);

INSERT INTO catalogue_accounts VALUES ('acc'), ('other');
INSERT INTO catalogue_courses
SELECT a.id, s.column1, 'Title', '', 'en', '2024-05-01T10:00:00.123456Z', NULL, FALSE, NULL, 2
FROM catalogue_accounts AS a, (VALUES ('bad'), ('good')) AS s;
INSERT INTO catalogue_modules
SELECT account_id, slug, n.column1, 'Title', '' FROM catalogue_courses, (VALUES (1), (2)) AS n;
INSERT INTO catalogue_revisions VALUES ('acc', zeroblob(16));

CREATE TRIGGER accounts_insert AFTER INSERT ON catalogue_accounts BEGIN
    UPDATE catalogue_revisions SET revision = randomblob(16);
END;
CREATE TRIGGER accounts_update AFTER UPDATE ON catalogue_accounts BEGIN
    UPDATE catalogue_revisions SET revision = randomblob(16);
END;
CREATE TRIGGER accounts_delete AFTER DELETE ON catalogue_accounts BEGIN
    UPDATE catalogue_revisions SET revision = randomblob(16);
END;
CREATE TRIGGER courses_insert AFTER INSERT ON catalogue_courses BEGIN
    UPDATE catalogue_revisions SET revision = randomblob(16);
END;
CREATE TRIGGER courses_update AFTER UPDATE ON catalogue_courses BEGIN
    UPDATE catalogue_revisions SET revision = randomblob(16);
END;
CREATE TRIGGER courses_delete AFTER DELETE ON catalogue_courses BEGIN
    UPDATE catalogue_revisions SET revision = randomblob(16);
END;
CREATE TRIGGER modules_insert AFTER INSERT ON catalogue_modules BEGIN
    UPDATE catalogue_revisions SET revision = randomblob(16);
END;
CREATE TRIGGER modules_update AFTER UPDATE ON catalogue_modules BEGIN
    UPDATE catalogue_revisions SET revision = randomblob(16);
END;
CREATE TRIGGER modules_delete AFTER DELETE ON catalogue_modules BEGIN
    UPDATE catalogue_revisions SET revision = randomblob(16);
END;
