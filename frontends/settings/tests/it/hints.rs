//! Hints about keys, at the times of a test clock.

use serde_json::{Value, json};

use crate::app::{App, DAY};

async fn hints(app: &App, id: &Value) -> Vec<String> {
    let key = app.get(&format!("/settings/api/keys/{}", id.as_str().unwrap())).await.data();
    key["hints"].as_array().unwrap().iter().map(|hint| hint.as_str().unwrap().to_owned()).collect()
}

async fn create_expiring(app: &App, end: &str) -> Value {
    let body = json!({ "name": "partner", "scopes": ["read:courses"], "expiresAt": end });
    app.send("POST", "/settings/api/keys", &body).await.data()
}

#[tokio::test]
async fn hints_follow_age_use_and_expiry() {
    let app = App::new().await;
    let endless = app.make("endless").await;
    let key = create_expiring(&app, "2027-05-01T04:40:00Z").await;
    assert_eq!(hints(&app, &endless["id"]).await, ["never_ends"]);
    assert!(hints(&app, &key["id"]).await.is_empty());
    app.clock.advance(7 * DAY);
    assert!(hints(&app, &key["id"]).await.is_empty());
    app.clock.advance(1);
    assert_eq!(hints(&app, &key["id"]).await, ["never_used"]);
    app.record_use("anna", &key).await;
    assert!(hints(&app, &key["id"]).await.is_empty());
    app.clock.advance(90 * DAY);
    assert!(hints(&app, &key["id"]).await.is_empty());
    app.clock.advance(1);
    assert_eq!(hints(&app, &key["id"]).await, ["unused"]);
    app.get("/settings").await.shows("It has not been used for 90 days.");
    // The key expires 160 days after its creation, so `ends_soon` begins after 146 days.
    app.record_use("anna", &key).await;
    app.clock.advance(49 * DAY - 3);
    assert!(hints(&app, &key["id"]).await.is_empty());
    app.clock.advance(1);
    assert_eq!(hints(&app, &key["id"]).await, ["ends_soon"]);
    app.get("/settings").await.shows("It expires soon.");
    app.clock.advance(14 * DAY);
    let ended = app.get(&format!("/settings/api/keys/{}", key["id"].as_str().unwrap())).await.data();
    assert_eq!((&ended["state"], &ended["hints"]), (&json!("expired"), &json!([])));
}

#[tokio::test]
async fn rotated_key_gets_hints_during_overlap() {
    let app = App::new().await;
    let old = create_expiring(&app, "2027-05-01T04:40:00Z").await;
    app.record_use("anna", &old).await;
    let path = format!("/settings/api/keys/{}/rotate", old["id"].as_str().unwrap());
    let new = app.send("POST", &path, &json!({ "overlapSeconds": 2 * DAY })).await.data();
    assert_eq!(new["replaces"]["id"], old["id"]);
    assert!(hints(&app, &old["id"]).await.is_empty());
    app.clock.advance(DAY - 1);
    assert!(hints(&app, &old["id"]).await.is_empty());
    app.clock.advance(1);
    assert_eq!(hints(&app, &old["id"]).await, ["successor_unused"]);
    app.get("/settings").await.shows("before this one stops working <time");
    app.record_use("anna", &old).await;
    assert_eq!(hints(&app, &old["id"]).await, ["still_used", "successor_unused"]);
    app.record_use("anna", &new).await;
    assert_eq!(hints(&app, &old["id"]).await, ["still_used"]);
    app.clock.advance(DAY);
    assert!(hints(&app, &old["id"]).await.is_empty());
}

#[tokio::test]
async fn rotated_key_gets_hint_when_successor_has_ended() {
    let app = App::new().await;
    let mut keys = vec![app.make("partner").await];
    let path = |key: &Value| format!("/settings/api/keys/{}", key["id"].as_str().unwrap());
    for overlap in [DAY, 0] {
        let rotate = format!("{}/rotate", path(keys.last().unwrap()));
        app.clock.advance(1);
        keys.push(app.send("POST", &rotate, &json!({ "overlapSeconds": overlap })).await.data());
    }
    // The second key has ended, and the third one is the successor.
    assert_eq!(hints(&app, &keys[0]["id"]).await, ["successor_unused"]);
    let page = app.get(&format!("/settings/keys/{}", keys[0]["id"].as_str().unwrap())).await;
    page.shows(&format!("the new key, <a href=\"/settings/keys/{}\">", keys[2]["id"].as_str().unwrap()));
    app.send("POST", &format!("{}/revoke", path(&keys[2])), &json!({})).await;
    app.record_use("anna", &keys[0]).await;
    assert_eq!(hints(&app, &keys[0]["id"]).await, ["successor_ended"]);
    let list = app.get("/settings").await;
    list.shows("Its successor has ended. <a href=\"/settings/keys/new\">Create another key</a>.");
    list.hides("Switch to the new key");
}
