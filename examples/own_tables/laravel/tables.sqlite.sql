-- Tables as `artisan migrate` of Laravel 12 creates them, with HasUuids and SoftDeletes: times are texts in UTC, with whole seconds.
create table "users" (
    "id"         varchar not null,
    "name"       varchar not null,
    "email"      varchar not null,
    "created_at" datetime,
    "updated_at" datetime,
    primary key ("id")
);
create unique index "users_email_unique" on "users" ("email");
create table "courses" (
    "id"           varchar not null,
    "user_id"      varchar not null,
    "slug"         varchar not null,
    "title"        varchar not null,
    "tagline"      varchar,
    "locale"       varchar not null default 'en',
    "status"       varchar check ("status" in ('draft', 'hidden', 'public')) not null default 'draft',
    "access"       varchar,
    "published_at" datetime,
    "created_at"   datetime,
    "updated_at"   datetime,
    "deleted_at"   datetime,
    foreign key ("user_id") references "users" ("id") on delete cascade,
    primary key ("id")
);
create index "courses_user_id_index" on "courses" ("user_id");
create table "lessons" (
    "id"         varchar not null,
    "course_id"  varchar not null,
    "sort_order" integer not null default '0',
    "title"      varchar not null,
    "summary"    text,
    "content"    text,
    "created_at" datetime,
    "updated_at" datetime,
    "deleted_at" datetime,
    foreign key ("course_id") references "courses" ("id") on delete cascade,
    primary key ("id")
);
create index "lessons_course_id_index" on "lessons" ("course_id");
