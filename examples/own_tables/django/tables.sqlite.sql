-- Tables as `migrate` of Django 5 creates them: times are texts in UTC, with a fraction if it is not zero.
CREATE TABLE "auth_user" (
    "id"        integer      NOT NULL PRIMARY KEY AUTOINCREMENT,
    "username"  varchar(150) NOT NULL UNIQUE,
    "email"     varchar(254) NOT NULL,
    "is_active" bool         NOT NULL
);
CREATE TABLE "courses_course" (
    "id"           integer      NOT NULL PRIMARY KEY AUTOINCREMENT,
    "slug"         varchar(200) NOT NULL,
    "title"        varchar(200) NOT NULL,
    "tagline"      varchar(300) NOT NULL,
    "language"     varchar(10)  NOT NULL,
    "created_at"   datetime     NOT NULL,
    "published_at" datetime     NULL,
    "is_hidden"    bool         NOT NULL,
    "is_deleted"   bool         NOT NULL,
    "access"       varchar(20)  NOT NULL,
    "owner_id"     integer      NOT NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED
);
CREATE TABLE "courses_module" (
    "id"        integer           NOT NULL PRIMARY KEY AUTOINCREMENT,
    "order"     smallint unsigned NOT NULL CHECK ("order" >= 0),
    "title"     varchar(200)      NOT NULL,
    "summary"   text              NOT NULL,
    "body"      text              NOT NULL,
    "course_id" bigint            NOT NULL REFERENCES "courses_course" ("id") DEFERRABLE INITIALLY DEFERRED
);
CREATE INDEX "courses_course_owner_id_5bb8f2bd" ON "courses_course" ("owner_id");
CREATE UNIQUE INDEX "unique_slug_of_owner" ON "courses_course" ("owner_id", "slug") WHERE NOT "is_deleted";
CREATE INDEX "courses_module_course_id_4e0b4f06" ON "courses_module" ("course_id");
