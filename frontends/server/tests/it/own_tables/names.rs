//! `name` in `catalogue_accounts`: owners' names on the pages of the developer settings.

use super::app::App;
use crate::developer_settings::visitor::Visitor;
use crate::observed::Observed;

/// Creates a link for the owner of the first account, which the sign-in page must call `name`, and signs in.
fn sign_in(app: &App, observed: &Observed, name: &str) -> Visitor {
    let account = app.accounts().remove(0);
    let link = app.run(&format!("settings link --account {account} --settings-url /settings")).succeeds();
    assert_eq!(link.trim_end().rsplit_once('.').unwrap().1, name, "{} {}", app.framework, app.kind());
    let mut owner = Visitor::of(&observed.server.address);
    assert_eq!(owner.sign_in(&link).status, 303, "{} {}", app.framework, app.kind());
    owner
}

#[track_caller]
fn assert_shown_as(owner: &Visitor, name: &str) {
    for path in ["/settings", "/settings/keys/new"] {
        let page = owner.get(path).body;
        assert!(page.contains(&format!("<bdi>{name}</bdi>")), "{name}: {page}");
    }
}

#[test]
fn owner_name_is_only_on_pages() {
    for app in App::all_with_rows() {
        let observed = Observed::start(&app.dir, "--settings-url /settings --log debug");
        let column = match app.framework {
            "django" => "auth_user SET username",
            "rails" => "accounts SET name",
            _ => "users SET name",
        };
        app.sql(&format!("UPDATE {column} = 'Marguerite' WHERE id = '{}'", app.accounts().remove(0)));
        let owner = sign_in(&app, &observed, "Marguerite");
        assert_shown_as(&owner, "Marguerite");

        let (_, token) = owner.create_key("partner");
        let responses =
            ["/me", "/courses"].map(|path| observed.server.get(&format!("/api/v1{path}"), &token).1.to_string());
        let keys = owner.get("/settings/api/keys").body;
        let lists = ["accounts list", "keys list"].map(|command| app.run(command).succeeds());
        let metrics = format!("{:?}", observed.metrics());
        let log = observed.stop_and_read_log();
        for text in responses.iter().chain(&lists).chain([&keys, &metrics, &log]) {
            assert!(text.len() > 40 && !text.contains("Marguerite"), "{} {}: {text}", app.framework, app.kind());
        }
    }
}

#[test]
fn owner_without_name_is_shown_by_id() {
    for app in App::with_rows("rails") {
        for column in ["CAST(NULL AS VARCHAR(9)) AS name", "'' AS name", "1 AS other"] {
            let view = format!("CREATE VIEW catalogue_accounts AS SELECT id, {column} FROM accounts");
            app.sql(&format!("DROP VIEW catalogue_accounts; {view}"));
            let observed = Observed::start(&app.dir, "--settings-url /settings");
            assert_shown_as(&sign_in(&app, &observed, "1"), "1");
            app.run("views check").succeeds();
        }
    }
}

#[test]
fn name_of_wrong_type_is_reported() {
    for app in App::with_rows("rails") {
        app.sql("DROP VIEW catalogue_accounts; CREATE VIEW catalogue_accounts AS SELECT id, 5 AS name FROM accounts");
        let output = app.run("views check");
        assert!(output.status == Some(1) && output.out.contains("`name`"), "{output:?}");
    }
}
