//! `catalogue export`

use crate::databases::on_each_database;
use crate::program::{COURSES, TestDir};

on_each_database!(import_and_export_are_inverse);

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
