//! Hints about keys, at the times of a test clock.

use serde_json::json;

use crate::app::{App, DAY, Key, new_key};

async fn hints(app: &App, key: &Key) -> Vec<String> {
    let key = app.get(&key.api("")).await.data();
    key["hints"].as_array().unwrap().iter().map(|hint| hint.as_str().unwrap().to_owned()).collect()
}

/// Creates a key that expires after 160 days.
async fn create_expiring(app: &App) -> Key {
    let mut body = new_key("partner");
    body["expiresAt"] = json!("2027-05-01T04:40:00Z");
    Key::of(app.send("POST", "/settings/api/keys", &body).await.data())
}

async fn rotate(app: &App, key: &Key, overlap: u64) -> Key {
    Key::of(app.send("POST", &key.api("/rotate"), &json!({ "overlapSeconds": overlap })).await.data())
}

#[tokio::test]
async fn hints_follow_age_use_and_expiry() {
    let app = App::new().await;
    let endless = app.make("endless").await;
    let key = create_expiring(&app).await;
    assert!(hints(&app, &endless).await.is_empty());
    assert!(hints(&app, &key).await.is_empty());
    app.clock.advance(7 * DAY);
    assert!(hints(&app, &key).await.is_empty());
    app.clock.advance(1);
    assert_eq!(hints(&app, &key).await, ["never_used"]);
    app.record_use(&key).await;
    assert!(hints(&app, &key).await.is_empty());
    app.clock.advance(90 * DAY);
    assert!(hints(&app, &key).await.is_empty());
    app.clock.advance(1);
    assert_eq!(hints(&app, &key).await, ["unused"]);
    app.get("/settings").await.shows("It has not been used for 90 days.");
    // `ends_soon` begins after 146 days.
    app.record_use(&key).await;
    app.clock.advance(49 * DAY - 3);
    assert!(hints(&app, &key).await.is_empty());
    app.clock.advance(1);
    assert_eq!(hints(&app, &key).await, ["ends_soon"]);
    app.get("/settings").await.shows("It expires soon.");
    app.clock.advance(14 * DAY);
    let ended = app.get(&key.api("")).await.data();
    assert_eq!((&ended["state"], &ended["hints"]), (&json!("expired"), &json!([])));
}

#[tokio::test]
async fn short_lived_key_gets_hint_in_last_quarter() {
    let app = App::new().await;
    let mut body = new_key("partner");
    body["expiresAt"] = json!("2026-11-26T04:40:00Z");
    let key = Key::of(app.send("POST", "/settings/api/keys", &body).await.data());
    app.clock.advance(3 * DAY - 1);
    assert!(hints(&app, &key).await.is_empty());
    app.clock.advance(1);
    assert_eq!(hints(&app, &key).await, ["ends_soon"]);
}

#[tokio::test]
async fn rotated_key_gets_hints_during_overlap() {
    let app = App::new().await;
    let old = create_expiring(&app).await;
    app.record_use(&old).await;
    let new = rotate(&app, &old, 2 * DAY).await;
    assert_eq!(new.data["replaces"]["id"], old.id);
    assert!(hints(&app, &old).await.is_empty());
    app.clock.advance(DAY - 1);
    assert!(hints(&app, &old).await.is_empty());
    app.clock.advance(1);
    assert_eq!(hints(&app, &old).await, ["successor_unused"]);
    app.get("/settings").await.shows("before this one stops working <time");
    app.record_use(&old).await;
    assert_eq!(hints(&app, &old).await, ["still_used", "successor_unused"]);
    app.record_use(&new).await;
    assert_eq!(hints(&app, &old).await, ["still_used"]);
    app.clock.advance(DAY);
    assert!(hints(&app, &old).await.is_empty());
}

#[tokio::test]
async fn rotated_key_gets_hint_when_successor_has_ended() {
    let app = App::new().await;
    let mut keys = vec![app.make("partner").await];
    for overlap in [DAY, 0] {
        app.clock.advance(1);
        keys.push(rotate(&app, keys.last().unwrap(), overlap).await);
    }
    // The second key has ended, and the third one is the successor.
    assert_eq!(hints(&app, &keys[0]).await, ["successor_unused"]);
    let page = app.get(&keys[0].page("")).await;
    page.shows(&format!("the new key, <a href=\"{}\">", keys[2].page("")));
    app.send("POST", &keys[2].api("/revoke"), &json!({})).await;
    app.record_use(&keys[0]).await;
    assert_eq!(hints(&app, &keys[0]).await, ["successor_ended"]);
    let list = app.get("/settings").await;
    list.shows("Its successor has ended. <a href=\"/settings/keys/new\">Create another key</a>.");
    list.hides("Switch to the new key");
}
