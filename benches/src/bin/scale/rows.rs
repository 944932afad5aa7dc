//! Rows that the database makes up by itself, and how much room they take.

use std::error::Error;

use crate::database::Database;
use crate::interrupt;

/// How many courses a statement makes.
const AT_ONCE: u64 = 250_000;
/// So many of the first courses have modules; the others none, or the tables would not fit on a disk.
const WITH_MODULES: u64 = 100_000;
/// Modules of a course.
const MODULES: u64 = 5;
/// One account for so many courses.
const COURSES_OF_ONE: u64 = 100;

/// Words by number, for texts that are not all alike.
const WORD: &str = "(ARRAY['algebra', 'animals', 'baking', 'balance', 'cameras', 'chords', 'clay', 'colour', 'dialogue', \
                    'drawing', 'energy', 'essays', 'fabric', 'finance', 'garden', 'guitar'])";

/// Nothing but the rows is written: what triggers and foreign keys would do is done or holds already.
const WITHOUT_TRIGGERS: &str = "SET session_replication_role = replica";
const WITH_TRIGGERS: &str = "SET session_replication_role = origin";

/// How many accounts there are for so many courses.
pub(crate) fn accounts(courses: u64) -> u64 {
    courses / COURSES_OF_ONE
}

/// The id of the account of that number; the first has most courses.
pub(crate) fn account(number: u64) -> String {
    format!("acc_{number}")
}

/// How many bytes of the disk so many courses take at most, with what is kept beside them.
pub(crate) fn room(courses: u64) -> u64 {
    courses * 450 + (2 << 30)
}

/// Makes more courses, from `from` on up to `to` in all, and accounts with a credential each. Courses come in the order of
/// time, each of an account by chance, as they would come from many people: those of one account are not neighbours. Of
/// account *n* there are about 1/*n* as many as of the first (Zipf's law).
pub(crate) fn grow(database: &Database, from: u64, to: u64) -> Result<(), Box<dyn Error>> {
    database.run(WITHOUT_TRIGGERS)?;
    let (old, all) = (accounts(from), accounts(to));
    database.run(&format!(
        "INSERT INTO accounts (id, name) SELECT 'acc_' || n, 'Studio ' || n FROM generate_series({old} + 1, {all}) AS n;
         INSERT INTO credentials (digest, account_id, id, kind, name, shown_prefix, scopes, created_at)
         SELECT sha256(convert_to('credential ' || n, 'UTF8')), 'acc_' || n, 'key_' || md5(n::text), 'api-key', 'partner',
             'made by ', 'read:courses', 0
         FROM generate_series({old} + 1, {all}) AS n;
         SELECT setseed(1 / {to}::float);"
    ))?;
    let mut first = from;
    while first < to {
        interrupt::check()?;
        let last = (first + AT_ONCE).min(to);
        database.run(&courses(first, last, all))?;
        if first < WITH_MODULES {
            database.run(&modules(first, last.min(WITH_MODULES)))?;
        }
        first = last;
    }
    database.run(WITH_TRIGGERS)?;
    database.run("VACUUM (ANALYZE) accounts, courses, modules, module_contents, credentials")?;
    Ok(database.run("CHECKPOINT")?)
}

fn courses(first: u64, last: u64, accounts: u64) -> String {
    format!(
        "INSERT INTO courses (account_id, created_at, slug, title, tagline, language, published_at, hidden, module_count)
         SELECT 'acc_' || floor(power({accounts} + 1, random()))::bigint, (1600000000 + k / 8) * 1000000, {slug},
             initcap(a) || ' and ' || b || ' for those who begin, part ' || k,
             'One line that says what to expect of ' || a || ', of ' || b || ' and of ' || c || ', and who may like it.',
             'en', (1600000000 + k / 8 + 86400) * 1000000, k % 16 = 0, CASE WHEN k < {WITH_MODULES} THEN {MODULES} ELSE 0 END
         FROM generate_series({first}::bigint, {last} - 1) AS k,
             LATERAL (SELECT {WORD}[1 + k % 16] AS a, {WORD}[1 + k / 16 % 16] AS b, {WORD}[1 + k / 256 % 16] AS c) AS words",
        slug = slug("k"),
    )
}

fn modules(first: u64, last: u64) -> String {
    let of = format!("courses AS c, generate_series(1, {MODULES}) AS n");
    let new = format!("c.slug >= {} AND c.slug < {}", slug(&first.to_string()), slug(&last.to_string()));
    format!(
        "INSERT INTO modules (account_id, course_slug, number, title, summary)
         SELECT c.account_id, c.slug, n, 'Part ' || n || ': ' || {WORD}[1 + n] || ' and what they need',
             'What to know of ' || c.title || ' before you begin with this part of it, and what you will be able to do \
                  when you are through with it.'
         FROM {of} WHERE {new};
         INSERT INTO module_contents (account_id, course_slug, number, content)
         SELECT c.account_id, c.slug, n, repeat('The body of part ' || n || '. ', 7) FROM {of} WHERE {new}"
    )
}

/// A slug by number, in the numbers' order, as an expression.
fn slug(number: &str) -> String {
    format!("'course-' || lpad(to_hex({number}), 8, '0') || '-basic'")
}

/// A table or an index, and its bytes on the disk.
pub(crate) struct Size {
    pub(crate) name: String,
    pub(crate) bytes: u64,
}

/// Each table and index, the tables first.
pub(crate) fn sizes(database: &Database) -> Result<Vec<Size>, Box<dyn Error>> {
    let sizes = "SELECT relname::text, pg_table_size(oid) FROM pg_class \
                 WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'i') AND relname NOT LIKE '%schema%' \
                 ORDER BY relkind DESC, relname";
    let rows = database.query(sizes, &[])?;
    rows.iter().map(|row| Ok(Size { name: row.get(0), bytes: u64::try_from(row.get::<_, i64>(1))? })).collect()
}
