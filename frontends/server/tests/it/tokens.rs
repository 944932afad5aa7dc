//! `catalogue tokens`

use serde_json::{Value, json};

use crate::databases::on_each_database;
use crate::program::{COURSES, TestDir, text};

on_each_database!(oauth_token_has_digest_id_and_no_name);

fn oauth_token_has_digest_id_and_no_name(dir: &TestDir) {
    dir.import(COURSES);
    let token = dir.run("tokens create --account a --scope read:courses --expires-in 1h --json").json();
    let id = text(&token, "id");
    assert!(id.strip_prefix("oauth:").is_some_and(|hex| hex.len() == 32), "{id}");
    assert_eq!((&token["name"], &token["account"]), (&Value::Null, &json!("a")));
    assert_eq!(token.as_object().unwrap().len(), 7);

    let listed = dir.run("keys list --account a --json").json();
    assert_eq!((&listed[0]["id"], &listed[0]["kind"]), (&token["id"], &json!("oauth")));
    assert!(dir.run("keys list --account a").succeeds().contains(id));
    dir.run(&format!("keys revoke {id}")).succeeds();
}
