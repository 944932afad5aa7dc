//! Writes by `import`.

use super::fixture::Fixture;
use super::{DETAIL, LIST, PAGE};

const ACCOUNT: &str = r#"{"type":"account","id":"a","name":"A"}"#;

/// Returns an import line for a course of account `a`.
fn course(slug: &str, title: &str, module: &str) -> String {
    format!(
        r#"{{"type":"course","account":"a","slug":"{slug}","title":"{title}","language":"en","modules":[{{"title":"{module}"}}]}}"#
    )
}

fn import(fixture: &Fixture, lines: &[&str], options: &str) {
    fixture.dir.run_reading(&lines.join("\n"), &format!("import -{options}")).succeeds();
}

#[test]
fn imported_changes_appear_in_next_response() {
    let mut fixture = Fixture::new();
    for number in 0..3 {
        let (title, module) = (format!("Title {number}"), format!("Module {number}"));
        import(&fixture, &[&course("one", &title, "M"), &course("zwei", &title, "M")], "");
        fixture.assert_new(&title);
        import(&fixture, &[&course("one", &title, &module)], "");
        fixture.assert_new_at(DETAIL, &module);
        fixture.assert_new_at(LIST, &title);
        fixture.assert_new_at(PAGE, &title);
        // Importing an unchanged course is not a change.
        import(&fixture, &[&course("one", &title, &module)], "");
        fixture.assert_not_modified();
    }
}

#[test]
fn added_and_pruned_course_appears_and_disappears_immediately() {
    let mut fixture = Fixture::new();
    for _ in 0..3 {
        fixture.assert_responses("/api/v1/courses/three", 404, "not_found");
        import(&fixture, &[&course("three", "Three", "M")], "");
        fixture.assert_new_at("/api/v1/courses/three", "Three");
        fixture.assert_new_at(LIST, "Three");
        fixture.assert_new_at(PAGE, "Three");

        import(&fixture, &[ACCOUNT, &course("one", "One", "M"), &course("zwei", "Zwei", "M")], " --prune");
        fixture.assert_responses("/api/v1/courses/three", 404, "not_found");
        for reader in &mut fixture.readers {
            assert!(!reader.get(LIST, "").body.contains("Three"));
        }
    }
}

#[test]
fn failed_import_changes_nothing() {
    let mut fixture = Fixture::new();
    let lines = [&*course("one", "Never", "M"), "{}"].join("\n");
    fixture.dir.run_reading(&lines, "import -").fails(1, &["2"]);
    fixture.assert_not_modified();
}
