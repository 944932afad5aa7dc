//! A file whose past is another than the one that was seen: a backup, tables made anew, too many changes.

use super::*;

#[test]
#[cfg(target_os = "linux")]
fn a_table_that_is_made_anew_ends_all_from_then_on() {
    for with_triggers in [true, false] {
        let counted = Counted::new();
        let host = counted.host();
        counted.read(["a", "b", "c", ""]);
        let [table, triggers] = ["table", "trigger"].map(|kind| {
            let sql =
                "SELECT group_concat(sql, ';') FROM sqlite_schema WHERE tbl_name = 'revoked_tokens' AND type = ?1";
            host.query_row(sql, [kind], |row| row.get::<_, String>(0)).unwrap()
        });
        let triggers = if with_triggers { &*triggers } else { "" };
        let anew = format!("BEGIN; DROP TABLE revoked_tokens; {table}; {triggers}; COMMIT");
        assert_eq!(counted.read_after(&host, &anew), ALL);
        let changed = counted.read_after(&host, "UPDATE courses SET title = 'x' WHERE account_id = 'b'");
        assert_eq!(changed, if with_triggers { [false, true, true, false] } else { ALL });
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_state_of_an_older_schema_ends_all_and_fails_nobody() {
    let counted = Counted::new();
    let host = counted.host();
    counted.read(["a", "b", "c", ""]);
    let names = "SELECT group_concat('DROP TRIGGER ' || name, ';') FROM sqlite_schema \
                 WHERE type = 'trigger' AND sql LIKE '%account_changes%'";
    let drop = host.query_row(names, [], |row| row.get::<_, String>(0)).unwrap();
    assert_eq!(counted.read_after(&host, &format!("{drop}; DROP TABLE account_changes")), ALL);
    assert_eq!(counted.read_after(&host, "UPDATE courses SET title = 'x' WHERE account_id = 'b'"), ALL);
    assert_eq!(counted.read(["a", "b", "c", ""]), [false; 4], "until the next commit");
}

#[test]
#[cfg(target_os = "linux")]
fn a_backup_that_is_put_back_ends_all() {
    let counted = Counted::new();
    let mut host = counted.host();
    let copy = counted.directory.path().join("copy.db");
    host.backup("main", &copy, None::<fn(_)>).unwrap();
    counted.read(["a", "b", "c", ""]);
    host.restore("main", &copy, None::<fn(_)>).unwrap();
    assert_eq!(counted.read(["a", "b", "c", ""]), ALL);

    host.execute_batch("UPDATE courses SET title = 'x' WHERE account_id = 'a'").unwrap();
    assert_eq!(counted.read(["a", "b", "c", ""]), [true, false, true, false]);
    host.restore("main", &copy, None::<fn(_)>).unwrap();
    assert_eq!(counted.read(["a", "b", "c", ""]), ALL);
    // As many changes as there, but others.
    let other = Connection::open(&copy).unwrap();
    other.execute_batch("UPDATE courses SET title = 'y' WHERE account_id = 'b'").unwrap();
    drop(other);
    host.execute_batch("UPDATE courses SET title = 'x' WHERE account_id = 'a'").unwrap();
    counted.read(["a", "b", "c", ""]);
    host.restore("main", &copy, None::<fn(_)>).unwrap();
    assert_eq!(counted.read(["a", "b", "c", ""]), ALL);
}

/// Then no change tells that it was another one for a while.
#[test]
#[cfg(target_os = "linux")]
fn what_was_read_of_a_state_that_is_taken_back_is_read_again() {
    let counted = Counted::new();
    let mut host = counted.host();
    let copy = counted.directory.path().join("copy.db");
    host.backup("main", &copy, None::<fn(_)>).unwrap();
    counted.read(["c"]);
    let read = |_: &Connection| {
        let change = "UPDATE courses SET title = 'x' WHERE account_id = 'b'";
        counted.host().execute_batch(change).map(|()| Some(1))
    };
    counted.readers.read_cached(&counted.cache, &"b", read).unwrap();
    host.restore("main", &copy, None::<fn(_)>).unwrap();
    assert_eq!(counted.read(["b"]), [true]);
}

#[test]
#[cfg(target_os = "linux")]
fn who_is_a_thousand_changes_behind_takes_all_for_changed() {
    let counted = Counted::new();
    let host = counted.host();
    counted.read(["a", "b", "c", ""]);
    let changes = |count: usize| {
        let changes =
            ["b", "c"].map(|id| format!("UPDATE courses SET title = 'x' WHERE account_id = '{id}';")).concat();
        format!("BEGIN; {} COMMIT", changes.repeat(count / 2))
    };
    assert_eq!(counted.read_after(&host, &changes(998)), [false, true, true, false]);
    assert_eq!(counted.read_after(&host, &changes(1_002)), ALL);
    let kept = host.query_row("SELECT count(*) FROM account_changes", [], |row| row.get(0));
    assert_eq!(kept, Ok(1_000));
    host.execute("DELETE FROM account_changes", []).unwrap();
    for _ in 0..2 {
        assert_eq!(counted.read_after(&host, "PRAGMA user_version = 7"), ALL, "a table without a row tells nothing");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn another_history_tells_nothing_of_this_one() {
    let version = Counted::new().readers.version().unwrap().1.unwrap();
    let change = |number, nonce, schema| {
        let mark = Mark { number, nonce: vec![nonce], schema };
        vec![Change { mark, account: Some(AccountId::from("a")) }]
    };
    for (after, changed) in
        [(change(1, 1, 1), false), (change(2, 1, 1), true), (change(1, 2, 1), true), (change(1, 1, 2), true)]
    {
        let mut seen = Seen::default();
        seen.add(version, change(1, 1, 1));
        let look = seen.look();
        seen.add(version, after);
        assert!(seen.is_changed_since(look, Some(&AccountId::from("a"))) && !seen.is_changed_since(seen.look(), None));
        assert_eq!(seen.is_changed_since(look, None), changed);
    }
}
