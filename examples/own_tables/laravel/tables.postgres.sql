-- Tables as `artisan migrate` of Laravel 12 creates them, with HasUuids and SoftDeletes: times are of type timestamp(0), in UTC.
create table "users" (
    "id"         uuid not null primary key,
    "name"       varchar(255) not null,
    "email"      varchar(255) not null constraint "users_email_unique" unique,
    "created_at" timestamp(0) without time zone null,
    "updated_at" timestamp(0) without time zone null
);
create table "courses" (
    "id"           uuid not null primary key,
    "user_id"      uuid not null constraint "courses_user_id_foreign" references "users" ("id") on delete cascade,
    "slug"         varchar(255) not null,
    "title"        varchar(255) not null,
    "tagline"      varchar(255) null,
    "locale"       varchar(255) not null default 'en',
    "status"       varchar(255) check ("status" in ('draft', 'hidden', 'public')) not null default 'draft',
    "access"       varchar(255) null,
    "published_at" timestamp(0) without time zone null,
    "created_at"   timestamp(0) without time zone null,
    "updated_at"   timestamp(0) without time zone null,
    "deleted_at"   timestamp(0) without time zone null
);
create index "courses_user_id_index" on "courses" ("user_id");
create table "lessons" (
    "id"         uuid not null primary key,
    "course_id"  uuid not null constraint "lessons_course_id_foreign" references "courses" ("id") on delete cascade,
    "sort_order" integer not null default '0',
    "title"      varchar(255) not null,
    "summary"    text null,
    "content"    text null,
    "created_at" timestamp(0) without time zone null,
    "updated_at" timestamp(0) without time zone null,
    "deleted_at" timestamp(0) without time zone null
);
create index "lessons_course_id_index" on "lessons" ("course_id");
