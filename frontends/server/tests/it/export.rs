//! `catalogue export`

use crate::databases::on_each_database;
use crate::program::{COURSES, TestDir};

on_each_database!(export_does_not_depend_on_order_of_import, import_and_export_are_inverse);

/// PostgreSQL texts cannot contain U+0000.
fn import_and_export_are_inverse(dir: &TestDir) {
    let texts = ["\"name\":\"A", "b@example.org", "a body", "\"Zwei", "free"];
    let zeros = texts.iter().fold(COURSES.to_owned(), |lines, text| {
        assert!(lines.contains(text), "{text}");
        lines.replace(text, &format!("{text}\\u0000\u{fffe}0"))
    });
    for text in [COURSES, &zeros] {
        for is_unchanged in [false, true] {
            let counts = dir.import(text);
            assert_eq!(
                counts.contains("\ncourses: 0 added, 0 changed, 3 unchanged, 0 removed\n"),
                is_unchanged,
                "{counts}"
            );
            assert_eq!(dir.export(), text);
            assert_eq!(dir.run("export --json").succeeds(), text);
        }
    }
}

fn export_does_not_depend_on_order_of_import(dir: &TestDir) {
    let mut lines: Vec<&str> = COURSES.lines().collect();
    lines.swap(0, 1);
    lines.reverse();
    lines.sort_by_key(|line| line.contains("\"course\""));
    dir.import(&lines.join("\n"));
    assert_eq!(dir.export(), COURSES);
}
