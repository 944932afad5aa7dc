//! Minimum privileges of a PostgreSQL role.

use super::app::App;
use super::checks::findings;

const README: &str = include_str!("../../../../../storage/postgres/README.md");

#[test]
fn documented_role_has_sufficient_privileges() {
    let Some(mut app) = App::without_keys("rails").into_iter().find(|app| app.is_postgres()) else { return };
    let owner = app.host();
    owner.run(&std::fs::read_to_string(App::folder("rails").join("rows.sql")).unwrap());
    let role = README.split("```sql\n").find(|block| block.starts_with("CREATE ROLE")).unwrap();
    owner.run(role.split("```").next().unwrap());
    app.dir.address = app.address.replace("//postgres@", "//catalogue@");
    app.run("migrate").succeeds();
    app.run("migrate").succeeds();
    app.run("views check --all").succeeds();
    let (_, token) = app.key("1");
    let server = app.serve("");
    assert_eq!(server.get("/api/v1/courses/knots", &token).1["data"]["modules"][1]["title"], "Clove hitch");
    // The example grants access to recreated views again.
    let example = app.run("views example --from rails --for postgres").succeeds();
    owner.run(&example.replace("CURRENT_USER;", "catalogue;"));
    assert_eq!(server.get("/api/v1/courses/knots", &token).0, 200);
    let doctor = app.run("doctor --json");
    assert_eq!(findings(&doctor, "rights", "ok").len(), 1, "{doctor:?}");
    owner.run("GRANT UPDATE ON courses TO catalogue");
    let doctor = app.run("doctor --json");
    let output = findings(&doctor, "rights", "warning");
    assert!(output.iter().any(|message| message.contains("courses")), "{doctor:?}");
    owner.run("REVOKE SELECT ON catalogue_modules FROM catalogue");
    let output = app.run("views check");
    assert!(output.status == Some(1) && output.out.contains("catalogue_modules"), "{output:?}");
}
