//! `catalogue export`

use crate::program::{COURSES, TestDir};

#[test]
fn import_and_export_are_inverse() {
    let dir = TestDir::with_courses();
    assert_eq!(dir.export(), COURSES);
    dir.run_reading(COURSES, "import - --database sqlite:copy.db").succeeds();
    assert_eq!(dir.run("export --database sqlite:copy.db --json").succeeds(), COURSES);
}

#[test]
fn export_does_not_depend_on_order_of_import() {
    let mut lines: Vec<&str> = COURSES.lines().collect();
    lines.swap(0, 1);
    lines.reverse();
    lines.sort_by_key(|line| line.contains("\"course\""));
    let dir = TestDir::new();
    dir.run_reading(&lines.join("\n"), "import -").succeeds();
    assert_eq!(dir.export(), COURSES);
}
