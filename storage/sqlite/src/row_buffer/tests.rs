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

/// Returns the first `max` rows of `sql`, read directly and buffered; `COLUMNS` in it stands for the columns of `t`.
fn read_directly_and_buffered(connection: &Connection, sql: &str, max: usize) -> [Vec<String>; 2] {
    let mut statement = connection.prepare(&sql.replace("COLUMNS", "a, b, c, d")).unwrap();
    let direct = statement.query_map([], |row| Ok(shown(row.into()))).unwrap();
    let direct = direct.take(max).map(Result::unwrap).collect();
    let mut statement = connection.prepare(&sql.replace("COLUMNS", "catalogue_row(a, b, c, d)")).unwrap();
    let found = statement.query([]).unwrap();
    [direct, collect(found, max, |rows| rows.map(|row| shown(Columns::Buffered(row))).collect()).unwrap()]
}

fn shown(row: Columns<'_>) -> String {
    format!("{:?} {:?}", row.text(2), [0, 1, 2, 3].map(|column| row.value(column)))
}

proptest! {
    #[test]
    fn buffered_rows_equal_rows_read_directly(
        values in prop::collection::vec((prop::option::of(-3_i64..3), -1.0..1.0, "[a-zé🤗]{0,3}"), 0..12),
        max in 0_usize..14,
        limit in 0_usize..14,
    ) {
        let connection = connection(&values);
        for sql in [
            "SELECT COLUMNS FROM t ORDER BY rowid",
            "SELECT COLUMNS FROM t ORDER BY rowid DESC LIMIT {limit}",
            "SELECT COLUMNS FROM t ORDER BY a, rowid",
            "SELECT COLUMNS FROM t ORDER BY c, b DESC",
            "SELECT COLUMNS FROM t ORDER BY c, b LIMIT {limit} OFFSET 1",
            "SELECT * FROM (SELECT COLUMNS FROM t WHERE a > 0 ORDER BY rowid LIMIT {limit}) \
             UNION ALL SELECT * FROM (SELECT COLUMNS FROM t ORDER BY b LIMIT {limit})",
        ] {
            let sql = sql.replace("{limit}", &limit.to_string());
            let [direct, buffered] = read_directly_and_buffered(&connection, &sql, max);
            prop_assert_eq!(buffered, direct, "{}", sql);
        }
    }
}

/// The buffered bytes of adjacent columns, each with half of a character, are valid UTF-8 together.
#[test]
fn invalid_utf8_fails_only_its_column() {
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

/// After a page of long texts, a thread's buffers shrink to a limit, and usual pages reuse their capacity.
#[test]
fn buffer_retains_capacity_of_usual_pages() {
    let connection = connection(&[]);
    let run = |rows: usize, length: usize| {
        let sql = format!(
            "WITH n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {rows}) \
             SELECT catalogue_row(n, printf('%.*c', {length}, 'x')) FROM n"
        );
        let mut statement = connection.prepare(&sql).unwrap();
        assert_eq!(collect(statement.query([]).unwrap(), rows, |rows| rows.count()).unwrap(), rows);
        ROW_BUFFER.with_borrow(|buffer| {
            (buffer.rows.len(), buffer.bytes.capacity(), buffer.values.capacity() * size_of::<Value>())
        })
    };
    let is_bounded =
        |(_, bytes, values): (usize, usize, usize)| [bytes, values].into_iter().all(|size| size <= MAX_RETAINED_BYTES);
    assert!(!is_bounded(run(20_000, 1_000)));
    let usual = run(51, 100);
    assert!(usual.0 == 51 && is_bounded(usual), "{usual:?}");
    let (_, bytes, _) = run(1, 1);
    assert_eq!(bytes, usual.1, "the next page reuses the buffer");
}

#[test]
fn views_cannot_call_row_function() {
    let connection = connection(&[]);
    connection.execute_batch("CREATE VIEW v AS SELECT catalogue_row(a) AS n FROM t").unwrap();
    assert!(connection.prepare("SELECT n FROM v").is_err());
}
