//! A list's index has what a page shows, where SQLite then reads nothing else of the table.

use super::*;
use crate::plan::steps;

/// For the example without a framework.
const PLAIN: &str = "
    CREATE TABLE accounts (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
    CREATE TABLE courses (id INTEGER PRIMARY KEY, account_id INTEGER NOT NULL, slug TEXT NOT NULL, title TEXT NOT NULL,
        tagline TEXT, body TEXT, language TEXT NOT NULL, created_at TEXT NOT NULL, published_at TEXT, hidden INTEGER NOT NULL,
        access_mode TEXT, updated_at TEXT NOT NULL);
    CREATE TABLE modules (id INTEGER PRIMARY KEY, course_id INTEGER NOT NULL, position INTEGER NOT NULL, title TEXT NOT NULL,
        summary TEXT);";

/// Of a list's view over the table `courses c`.
const COLUMNS: &str = "c.slug, c.title, '' AS tagline, 'en' AS language, c.made AS created_at, NULL AS published_at,
    c.hidden, NULL AS access_mode";

fn database(sql: &str) -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(sql).unwrap();
    crate::kept_rows::register(&connection).unwrap();
    connection
}

/// That table and a view of it, whose owners are numbers.
fn courses(table: &str, columns: &str, rest: &str) -> Connection {
    database(&format!(
        "CREATE TABLE teams (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
         CREATE TABLE lessons (course INTEGER, of TEXT);
         CREATE INDEX lessons_of_numbers ON lessons (course); CREATE INDEX lessons_of_keys ON lessons (of);
         CREATE TABLE {table};
         CREATE VIEW catalogue_accounts AS SELECT name AS id FROM teams;
         CREATE VIEW catalogue_courses AS SELECT {columns} FROM {rest};
         CREATE TABLE catalogue_modules (account_id TEXT, course_slug TEXT, number, title, summary,
             PRIMARY KEY (account_id, course_slug, number));"
    ))
}

/// Makes the indexes that are proposed, which leave nothing to say. What the list's has after its order.
fn made(connection: &Connection) -> Vec<String> {
    let statements = Statements::of(connection);
    assert!(statements.kept_pages.is_none(), "rows that are sorted are not kept");
    let advice = check(connection, &statements).unwrap();
    let indexes: Vec<String> = advice.into_iter().filter_map(|advice| advice.remedy).collect();
    indexes.iter().for_each(|index| connection.execute_batch(index).unwrap_or_else(|error| panic!("{index}: {error}")));
    assert_eq!(check(connection, &statements).unwrap(), [], "{indexes:#?}");
    let lists = indexes.iter().filter(|index| index.contains("_by_courses_list"));
    lists.map(|index| index.rsplit_once("COLLATE BINARY").unwrap().1.to_owned()).collect()
}

/// How each statement for a page reads the courses, which are `c`.
fn reads(connection: &Connection) -> Vec<Vec<String>> {
    let statements = Statements::of(connection);
    let reads = |sql: &String| steps(connection, sql).into_iter().filter(|step| step.contains(" c ")).collect();
    let kept = statements.kept_pages.expect("rows in order are kept");
    statements.pages.all().chain(kept.all()).map(reads).collect()
}

fn assert_covered(connection: &Connection) {
    for reads in reads(connection) {
        let covered = reads.iter().all(|step| step.starts_with("SEARCH c USING COVERING INDEX"));
        assert!(covered && reads.iter().any(|step| step.contains("_by_courses_list")), "{reads:#?}");
    }
}

#[test]
fn over_the_example_views_a_page_reads_one_range_of_an_index() {
    let read = |path: &str| std::fs::read_to_string(format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    for (framework, shown) in [
        ("plain", r#", "title", "language", "created_at", "published_at", "hidden");"#),
        ("django", r#", "title", "language", "created_at", "published_at", "is_hidden", "is_deleted");"#),
        ("rails", r#", "title", "language", "published_at", "hidden", "discarded_at", "created_at");"#),
        ("laravel", r#", "id", "title", "locale", "status", "published_at", "created_at", "deleted_at");"#),
    ] {
        let tables = match framework {
            "plain" => PLAIN.to_owned(),
            _ => read(&format!("examples/own_tables/{framework}/tables.sqlite.sql")),
        };
        let connection = database(&tables);
        connection.execute_batch(&read(&format!("frontends/server/src/cli/views/{framework}.sqlite.sql"))).unwrap();
        assert_eq!(made(&connection), [shown], "{framework}");
        assert_covered(&connection);
        connection.execute_batch("ANALYZE").unwrap();
        assert_covered(&connection);
    }
}

/// Whatever the names and the table, the indexes can be made and say all.
#[test]
fn indexes_that_are_proposed_can_be_made() {
    let tables = [
        (
            "courses (id INTEGER PRIMARY KEY, team INTEGER, slug TEXT, title TEXT, made TEXT, hidden INTEGER, gone TEXT)",
            "courses",
            "course",
        ),
        (
            "courses (team INTEGER, slug TEXT, title TEXT, hidden INTEGER, gone TEXT, made TEXT, id TEXT PRIMARY KEY) WITHOUT ROWID",
            "courses",
            "of",
        ),
        (
            "\"all \"\"my courses\" (id TEXT PRIMARY KEY, slug, gone, \"it's \"\"late\"\" now\" TEXT, team INTEGER, made, title TEXT \
             GENERATED ALWAYS AS (upper(slug)), hidden AS (gone IS NOT NULL) STORED)",
            "\"all \"\"my courses\"",
            "of",
        ),
        (
            "[order] (id INTEGER PRIMARY KEY, team INTEGER, made, slug, title, hidden, gone, \"select\", [group by])",
            "[order]",
            "course",
        ),
    ];
    for (table, name, course) in tables {
        let counted = format!(", (SELECT count(*) FROM lessons m WHERE m.{course} = c.id) AS module_count");
        for (account, count, rest) in [
            ("CAST(c.team AS TEXT)", "", ""),
            ("CAST(c.team AS TEXT)", &*counted, "WHERE NOT c.hidden AND coalesce(c.gone, '') = ''"),
            ("c.team", ", 0 AS module_count", "WHERE c.gone IS NULL"),
            ("t.name", &counted, "JOIN teams t ON t.id = c.team WHERE c.gone IS NULL"),
        ] {
            let columns = format!("{account} AS account_id, {COLUMNS}{count}");
            let connection = courses(table, &columns, &format!("{name} c {rest}"));
            let shown = made(&connection);
            assert!(matches!(&*shown, [shown] if shown.contains("\"made\"")), "{table} {columns} {rest}: {shown:?}");
            assert_covered(&connection);
        }
    }
}

#[test]
fn an_index_of_the_order_alone_is_enough() {
    let connection = database(PLAIN);
    connection
        .execute_batch(
            "CREATE VIEW catalogue_accounts AS SELECT CAST(id AS TEXT) AS id FROM accounts;
             CREATE VIEW catalogue_courses AS SELECT CAST(account_id AS TEXT) AS account_id, slug, title, tagline, language,
                 created_at, published_at, hidden, access_mode, 0 AS module_count FROM courses AS c;",
        )
        .unwrap();
    let statements = Statements::of(&connection);
    for ViewAdvice { remedy, .. } in check(&connection, &statements).unwrap() {
        let index = remedy.unwrap();
        let end = index.find(", \"title\"").map_or_else(|| index.clone(), |end| format!("{})", &index[..end]));
        connection.execute_batch(&end).unwrap();
    }
    assert_eq!(check(&connection, &statements).unwrap(), []);
    assert!(reads(&connection).concat().iter().any(|step| step.contains("c USING INDEX courses_by_courses_list")));
}

/// What a page shows may be a small part of it.
#[test]
fn long_columns_are_not_in_an_index() {
    let table = "courses (id INTEGER PRIMARY KEY, team, slug, document TEXT, made, hidden)";
    let columns =
        "CAST(c.team AS TEXT) AS account_id, c.slug, c.document ->> 'title' AS title, '' AS tagline, 'en' AS language,
        c.made AS created_at, NULL AS published_at, c.hidden, NULL AS access_mode, 0 AS module_count";
    for (length, shown) in [(100, ", \"document\", \"made\", \"hidden\");"), (1000, ");")] {
        let connection = courses(table, columns, "courses c");
        let rows = "INSERT INTO courses (team, slug, document, made, hidden) SELECT 1, value, json_object('title',
             'One', 'text', printf('%.*c', ?1, 'x')), value, 0 FROM json_each('[1, 2, 3]')";
        connection.execute(rows, [length]).unwrap();
        assert_eq!(made(&connection), [shown], "{length}");
    }
}
/// A team whose courses are all its own says so in its views.
#[test]
fn courses_of_one_account_are_in_the_order_of_an_index() {
    for (account, accounts) in
        [("'our team'", "SELECT 'our team' AS id"), ("CAST(1 AS TEXT)", "SELECT name AS id FROM teams")]
    {
        let columns = format!(
            "{account} AS account_id, {COLUMNS}, (SELECT count(*) FROM lessons m WHERE m.course = c.id) AS module_count"
        );
        let table = "courses (id INTEGER PRIMARY KEY, slug TEXT, title TEXT, hidden INTEGER, made TEXT, gone TEXT)";
        let connection = courses(table, &columns, "courses c WHERE c.gone IS NULL");
        connection
            .execute_batch(&format!("DROP VIEW catalogue_accounts; CREATE VIEW catalogue_accounts AS {accounts}"))
            .unwrap();
        assert_eq!(made(&connection), [", \"title\", \"hidden\", \"made\", \"gone\");"], "{account}");
        for reads in reads(&connection) {
            assert!(
                reads.iter().any(|step| step.contains("c USING COVERING INDEX courses_by_courses_list")),
                "{reads:#?}"
            );
        }
    }
}
