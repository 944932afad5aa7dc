-- Tables as `db:migrate` of Rails 8 creates them: times are of type timestamp(6), in UTC; courses share lessons, in an order.
CREATE TABLE accounts (
    id         bigserial PRIMARY KEY,
    name       character varying NOT NULL,
    created_at timestamp(6) without time zone NOT NULL,
    updated_at timestamp(6) without time zone NOT NULL
);
CREATE TABLE courses (
    id           bigserial PRIMARY KEY,
    account_id   bigint NOT NULL CONSTRAINT fk_rails_ad4cf0b70d REFERENCES accounts (id),
    slug         character varying NOT NULL,
    title        character varying NOT NULL,
    tagline      character varying,
    language     character varying DEFAULT 'en' NOT NULL,
    published_at timestamp(6) without time zone,
    hidden       boolean DEFAULT FALSE NOT NULL,
    access_mode  integer,
    discarded_at timestamp(6) without time zone,
    created_at   timestamp(6) without time zone NOT NULL,
    updated_at   timestamp(6) without time zone NOT NULL
);
CREATE INDEX index_courses_on_account_id ON courses (account_id);
CREATE INDEX index_courses_on_discarded_at ON courses (discarded_at);
CREATE UNIQUE INDEX index_courses_on_account_id_and_slug ON courses (account_id, slug) WHERE discarded_at IS NULL;
CREATE TABLE lessons (
    id         bigserial PRIMARY KEY,
    title      character varying NOT NULL,
    summary    text,
    body       text,
    created_at timestamp(6) without time zone NOT NULL,
    updated_at timestamp(6) without time zone NOT NULL
);
CREATE TABLE course_lessons (
    id        bigserial PRIMARY KEY,
    course_id bigint NOT NULL CONSTRAINT fk_rails_4e0b2ef2c0 REFERENCES courses (id),
    lesson_id bigint NOT NULL CONSTRAINT fk_rails_0cd1a1e1f7 REFERENCES lessons (id),
    position  integer NOT NULL
);
CREATE INDEX index_course_lessons_on_course_id ON course_lessons (course_id);
CREATE INDEX index_course_lessons_on_lesson_id ON course_lessons (lesson_id);
