use proptest::prelude::*;
use rusqlite::params;

use super::*;

fn connection(values: &[(Option<i64>, f64, String)]) -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    register(&connection).unwrap();
    connection.execute_batch("CREATE TABLE t (a, b, c, d); CREATE INDEX of_a ON t (a)").unwrap();
    for (integer, real, text) in values {
        let values = params![integer, real, text, text.as_bytes()];
        connection.execute("INSERT INTO t VALUES (?1, ?2, ?3, ?4)", values).unwrap();
    }
    connection
}

/// Returns the rows of a statement over the columns of `t`, read directly and buffered.
fn both(connection: &Connection, of: &str, most: usize) -> [Vec<String>; 2] {
    let mut statement = connection.prepare(&of.replace("COLUMNS", "a, b, c, d")).unwrap();
    let read = statement.query_map([], |row| Ok(shown(row.into()))).unwrap();
    let read = read.take(most).map(Result::unwrap).collect();
    let mut statement = connection.prepare(&of.replace("COLUMNS", "catalogue_row(a, b, c, d)")).unwrap();
    let found = statement.query([]).unwrap();
    [read, collect(found, most, |rows| rows.map(|row| shown(Columns::Buffered(row))).collect()).unwrap()]
}

fn shown(row: Columns<'_>) -> String {
    format!("{:?} {:?}", row.text(2), [0, 1, 2, 3].map(|column| row.value(column)))
}

proptest! {
    #[test]
    fn rows_that_are_kept_are_those_that_are_read(
        values in prop::collection::vec((prop::option::of(-3_i64..3), -1.0..1.0, "[a-zé🤗]{0,3}"), 0..12),
        most in 0_usize..14,
        limit in 0_usize..14,
    ) {
        let connection = connection(&values);
        for of in [
            "SELECT COLUMNS FROM t ORDER BY rowid",
            "SELECT COLUMNS FROM t ORDER BY rowid DESC LIMIT {limit}",
            "SELECT COLUMNS FROM t ORDER BY a, rowid",
            "SELECT COLUMNS FROM t ORDER BY c, b DESC",
            "SELECT COLUMNS FROM t ORDER BY c, b LIMIT {limit} OFFSET 1",
            "SELECT * FROM (SELECT COLUMNS FROM t WHERE a > 0 ORDER BY rowid LIMIT {limit}) \
             UNION ALL SELECT * FROM (SELECT COLUMNS FROM t ORDER BY b LIMIT {limit})",
        ] {
            let of = of.replace("{limit}", &limit.to_string());
            let [read, buffer] = both(&connection, &of, most);
            prop_assert_eq!(buffer, read, "{}", of);
        }
    }
}

/// Next to each other, the halves of a character are valid UTF-8.
#[test]
fn a_text_that_is_not_utf8_is_told_of_its_column_alone() {
    let connection = connection(&[]);
    for (bytes, whole) in [("X'C3', X'A9'", [false, false]), ("X'FF', X'61'", [false, true])] {
        let [first, second] = bytes.split_once(", ").map(|(first, second)| [first, second]).unwrap();
        let sql = format!("SELECT catalogue_row(CAST({first} AS TEXT), CAST({second} AS TEXT), 'e')");
        let mut statement = connection.prepare(&sql).unwrap();
        let found = collect(statement.query([]).unwrap(), 1, |rows| {
            rows.map(|row| [0, 1, 2].map(|column| row.text(column).is_ok())).collect::<Vec<_>>()
        });
        assert_eq!(found.unwrap(), [[whole[0], whole[1], true]], "{bytes}");
    }
}

/// After a page of long texts, a thread's buffers shrink to the capacity of usual pages, which reuse it.
#[test]
fn a_thread_keeps_the_room_of_usual_pages() {
    let connection = connection(&[]);
    let run = |rows_of: usize, text: usize| {
        let sql = format!(
            "WITH n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {rows_of}) \
             SELECT catalogue_row(n, printf('%.*c', {text}, 'x')) FROM n"
        );
        let mut statement = connection.prepare(&sql).unwrap();
        assert_eq!(collect(statement.query([]).unwrap(), rows_of, |rows| rows.count()).unwrap(), rows_of);
        ROW_BUFFER.with_borrow(|buffer| {
            (buffer.rows.len(), buffer.bytes.capacity(), buffer.values.capacity() * size_of::<Value>())
        })
    };
    let room =
        |(_, bytes, values): (usize, usize, usize)| [bytes, values].into_iter().all(|room| room <= MAX_RETAINED_BYTES);
    assert!(!room(run(20_000, 1_000)));
    let usual = run(51, 100);
    assert!(usual.0 == 51 && room(usual), "{usual:?}");
    let (_, bytes, _) = run(1, 1);
    assert_eq!(bytes, usual.1, "the next page finds room");
}

#[test]
fn no_view_can_call_the_function() {
    let connection = connection(&[]);
    connection.execute_batch("CREATE VIEW v AS SELECT catalogue_row(a) AS n FROM t").unwrap();
    assert!(connection.prepare("SELECT n FROM v").is_err());
}
