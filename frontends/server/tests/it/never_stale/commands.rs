//! The program's own commands write.

use super::scene::Scene;
use super::{DETAIL, LIST, PAGE};

const ACCOUNT: &str = r#"{"type":"account","id":"a","name":"A"}"#;

/// A line of an import for a course of account `a`.
fn course(slug: &str, title: &str, module: &str) -> String {
    format!(
        r#"{{"type":"course","account":"a","slug":"{slug}","title":"{title}","language":"en","modules":[{{"title":"{module}"}}]}}"#
    )
}

fn import(scene: &Scene, lines: &[&str], options: &str) {
    scene.place.run_reading(&lines.join("\n"), &format!("import -{options}")).succeeds();
}

#[test]
fn an_import_that_changes_courses() {
    let mut scene = Scene::new();
    for number in 0..3 {
        let (title, module) = (format!("Title {number}"), format!("Module {number}"));
        import(&scene, &[&course("one", &title, "M"), &course("zwei", &title, "M")], "");
        scene.shows(&title);
        import(&scene, &[&course("one", &title, &module)], "");
        scene.shows_at(DETAIL, &module);
        scene.shows_at(LIST, &title);
        scene.shows_at(PAGE, &title);
        // What is as it was is no change.
        import(&scene, &[&course("one", &title, &module)], "");
        scene.shows_nothing_new();
    }
}

#[test]
fn an_import_that_adds_and_removes_a_course() {
    let mut scene = Scene::new();
    for _ in 0..3 {
        scene.answers("/api/v1/courses/three", 404, "not_found");
        import(&scene, &[&course("three", "Three", "M")], "");
        scene.shows_at("/api/v1/courses/three", "Three");
        scene.shows_at(LIST, "Three");
        scene.shows_at(PAGE, "Three");

        import(&scene, &[ACCOUNT, &course("one", "One", "M"), &course("zwei", "Zwei", "M")], " --prune");
        scene.answers("/api/v1/courses/three", 404, "not_found");
        for reader in &mut scene.readers {
            assert!(!reader.ask(LIST, "").body.contains("Three"));
        }
    }
}

#[test]
fn an_import_that_fails_at_its_last_line_changes_nothing() {
    let mut scene = Scene::new();
    let lines = [&*course("one", "Never", "M"), "{}"].join("\n");
    scene.place.run_reading(&lines, "import -").fails(1, &["2"]);
    scene.shows_nothing_new();
}
