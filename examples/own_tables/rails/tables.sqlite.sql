-- Tables as `db:migrate` of Rails 8 creates them: times are texts in UTC, with a fraction if it is not zero; courses share
-- lessons, in an order.
CREATE TABLE "accounts" (
    "id"         integer PRIMARY KEY AUTOINCREMENT NOT NULL,
    "name"       varchar NOT NULL,
    "created_at" datetime(6) NOT NULL,
    "updated_at" datetime(6) NOT NULL
);
CREATE TABLE "courses" (
    "id"           integer PRIMARY KEY AUTOINCREMENT NOT NULL,
    "account_id"   integer NOT NULL CONSTRAINT "fk_rails_ad4cf0b70d" REFERENCES "accounts" ("id"),
    "slug"         varchar NOT NULL,
    "title"        varchar NOT NULL,
    "tagline"      varchar,
    "language"     varchar DEFAULT 'en' NOT NULL,
    "published_at" datetime(6),
    "hidden"       boolean DEFAULT FALSE NOT NULL,
    "access_mode"  integer,
    "discarded_at" datetime(6),
    "created_at"   datetime(6) NOT NULL,
    "updated_at"   datetime(6) NOT NULL
);
CREATE INDEX "index_courses_on_account_id" ON "courses" ("account_id");
CREATE INDEX "index_courses_on_discarded_at" ON "courses" ("discarded_at");
CREATE UNIQUE INDEX "index_courses_on_account_id_and_slug" ON "courses" ("account_id", "slug") WHERE discarded_at IS NULL;
CREATE TABLE "lessons" (
    "id"         integer PRIMARY KEY AUTOINCREMENT NOT NULL,
    "title"      varchar NOT NULL,
    "summary"    text,
    "body"       text,
    "created_at" datetime(6) NOT NULL,
    "updated_at" datetime(6) NOT NULL
);
CREATE TABLE "course_lessons" (
    "id"        integer PRIMARY KEY AUTOINCREMENT NOT NULL,
    "course_id" integer NOT NULL CONSTRAINT "fk_rails_4e0b2ef2c0" REFERENCES "courses" ("id"),
    "lesson_id" integer NOT NULL CONSTRAINT "fk_rails_0cd1a1e1f7" REFERENCES "lessons" ("id"),
    "position"  integer NOT NULL
);
CREATE INDEX "index_course_lessons_on_course_id" ON "course_lessons" ("course_id");
CREATE INDEX "index_course_lessons_on_lesson_id" ON "course_lessons" ("lesson_id");
