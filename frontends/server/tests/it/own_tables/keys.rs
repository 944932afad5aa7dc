//! Keys, rate limits and developer settings for accounts of a host application.

use serde_json::json;

use super::app::App;
use super::checks::findings;
use crate::developer_settings::visitor::Visitor;

#[test]
fn keys_are_created_listed_limited_and_revoked() {
    for app in App::all_with_rows() {
        let account = if app.framework == "laravel" { "0198c5d2-a4b0-7c3e-9f1d-6a5b4c3d2e1f" } else { "1" };
        let (id, token) = app.key(account);
        let server = app.serve("--rate-limit 2/1h");
        assert_eq!(server.get("/api/v1/me", &token).1["data"]["userId"], account);
        let (status, page) = server.get("/api/v1/courses", &token);
        assert_eq!((status, page["data"].as_array().unwrap().len()), (200, 3), "{page}");
        assert_eq!(server.get("/api/v1/courses", &token).0, 429);
        assert_eq!(app.run("keys list --json").json()[0]["account"], account);
        app.run(&format!("keys revoke {id}")).succeeds();
        let (status, refused) = server.get("/api/v1/me", &token);
        assert_eq!((status, &refused["error"]["details"]["reason"]), (401, &json!("revoked")));
        let log = app.run(&format!("keys log --account {account} --json")).json();
        assert_eq!((&log[0]["action"], &log[1]["action"]), (&json!("key_revoked"), &json!("key_created")), "{log}");
        app.run("keys create --account nobody --name n --scope read:courses").fails(1, &["no account \"nobody\""]);
    }
}

/// The catalogue keeps keys and sign-ins of a removed account until an operator revokes the keys and ends the sign-ins.
#[test]
fn keys_and_sign_ins_of_removed_account_are_listed_and_ended() {
    for app in App::with_rows("django") {
        app.run("settings link --account 1 --settings-url /settings").succeeds();
        app.run("settings link --account 2 --settings-url /settings").succeeds();
        let (id, _) = app.key("2");
        app.sql("UPDATE auth_user SET is_active = FALSE");
        assert_eq!(app.run("settings sign-out --account 1").succeeds(), "ended 1 links and sessions of 1\n");
        assert_eq!(app.run("keys list --account 1").succeeds().lines().count(), 1, "{}", app.kind());
        assert_eq!(app.run("keys list --account 2 --json").json()[0]["id"], *id);
        app.run(&format!("keys revoke {id}")).succeeds();
        assert_eq!(app.run("keys log --account 2 --json").json()[0]["action"], "key_revoked");
        app.run("settings link --account 3 --settings-url /settings").fails(1, &["no account \"3\""]);
        for command in ["keys list", "keys log", "settings sign-out", "keys create --name n --scope read:courses"] {
            let output = app.run(&format!("{command} --account 3"));
            assert!(!output.err.contains("import"), "{output:?}");
            output.fails(1, &["no account \"3\"", "accounts list", "catalogue_accounts"]);
        }
    }
}

/// A new account with the id of a removed account inherits only unrevoked keys.
/// Commands report these keys while the account is missing.
#[test]
fn reused_account_id_has_no_sign_ins_and_keys_are_reported() {
    for app in App::with_rows("django") {
        let server = app.serve("--settings-url /settings");
        let link = || app.run("settings link --account 2 --settings-url /settings").succeeds();
        let [signed_in, unused] = [link(), link()];
        let mut owner = Visitor::of(&server.address);
        assert_eq!(owner.sign_in(&signed_in).status, 303, "{}", app.kind());
        let (id, token) = owner.create_key("partner");
        assert_eq!(server.get("/api/v1/courses/knots", &token).1["data"]["title"], "Knoten");
        let owners = |verdict| findings(&app.run("doctor --json"), "owners", verdict).concat();
        assert!(owners("ok").contains("account of each active key"), "{}", app.kind());
        assert_eq!(app.run("keys list").err, "");

        app.sql("UPDATE auth_user SET is_active = FALSE WHERE id = 2");
        let output = owners("warning");
        assert!(output.contains("is not in catalogue_accounts: 1;") && output.contains("`keys revoke`"), "{output}");
        assert!(app.run("doctor").succeeds().contains(&id), "{}", app.kind());
        let output = app.run("keys list").err;
        assert!(output.contains(&id) && output.contains("does not contain the account of"), "{output}");
        assert_ne!(owner.get("/settings").status, 200, "{}", app.kind());

        app.sql("UPDATE auth_user SET is_active = TRUE WHERE id = 2");
        assert_ne!(owner.get("/settings").status, 200, "{}", app.kind());
        assert_ne!(Visitor::of(&server.address).sign_in(&unused).status, 303, "{}", app.kind());
        app.run(&format!("keys revoke {id}")).succeeds();
        app.sql("UPDATE auth_user SET is_active = FALSE WHERE id = 2");
        assert!(owners("ok").contains("account of each active key"), "{}", app.kind());
    }
}
