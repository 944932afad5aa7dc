//! What an operator sees of a PostgreSQL database.

use std::collections::BTreeSet;

use super::scene::Scene;
use crate::dashboard::{queried, shown};
use crate::observed::Observed;

fn observed(scene: &Scene) -> Observed {
    Observed::by(&scene.place, &mut scene.command("serve --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0"))
}

#[test]
fn the_pool_is_shown_and_the_dashboard_asks_for_it() {
    let Some(scene) = Scene::with_courses() else { return };
    let observed = observed(&scene);
    let (_, token) = scene.key("a");
    assert_eq!(observed.server.get("/api/v1/courses", &token).0, 200);
    let metrics = observed.metrics();
    assert_eq!(metrics["catalogue_database_up"], 1.0);
    assert_eq!(metrics[r#"catalogue_database_connections_max{server="primary"}"#], 10.0);
    assert!(metrics[r#"catalogue_database_connections_idle{server="primary"}"#] >= 1.0);
    let queried: BTreeSet<_> = queried().into_iter().filter(|name| name.starts_with("catalogue_database_")).collect();
    assert!(!queried.is_empty() && queried.is_subset(&shown(&observed)), "{queried:?}");
}

#[test]
fn ready_is_red_where_the_tables_are_not_those_of_this_build() {
    let Some(scene) = Scene::with_courses() else { return };
    let observed = observed(&scene);
    assert_eq!(observed.ready().0, 200);
    scene.session().run("ALTER TABLE modules RENAME TO elsewhere");
    let (status, found) = observed.ready();
    assert!(status == 503 && found["checks"]["credentials"] == "ok" && found["checks"]["courses"] != "ok", "{found}");
    scene.session().run("ALTER TABLE elsewhere RENAME TO modules");
    assert_eq!(observed.ready().0, 200);
}
