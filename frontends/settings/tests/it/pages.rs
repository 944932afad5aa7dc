//! Each page and form.

use std::time::Duration;

use catalogue_core::admin::NewCredential;
use catalogue_core::auth::Scopes;
use catalogue_core::storage::{Actor, KeyStorage as _};
use serde_json::{Value, json};

use crate::app::{App, DAY, form, get};

/// Sends the form of a new key as a browser does.
async fn create(app: &App, fields: &[(&str, &str)]) -> crate::app::TestResponse {
    let nonce = app.nonce("/settings/keys/new").await;
    let mut all = vec![("nonce", nonce.as_str())];
    all.extend(fields);
    app.post("/settings/keys", &all).await
}

const PARTNER: [(&str, &str); 4] = [("name", "partner"), ("scope", "read:courses"), ("expires", "90d"), ("date", "")];

#[tokio::test]
async fn a_key_is_made_shown_once_and_listed() {
    let app = App::new().await;
    let empty = app.get("/settings").await;
    assert_eq!(empty.status, 200);
    empty.shows("No keys yet.");
    empty.shows("href=\"/settings/keys/new\"");
    empty.shows("action=\"/settings/check\"");
    let made = create(&app, &PARTNER).await;
    assert_eq!(made.status, 201);
    made.shows("Copy it now: it is kept as a digest and cannot be shown again.");
    made.shows("Your new key");
    made.shows("data-try=\"/api/v1/me\"");
    let token = made.token();
    assert_eq!(made.body.matches(&token).count(), 2, "in the field, and in the line to paste");
    let list = app.get("/settings/").await;
    list.shows("partner");
    list.shows(&format!("{}…", &token[..8]));
    list.shows("Never used");
    list.shows("Expires <time");
    list.shows("in 90 days");
    list.hides(&token);
    let events = app.get("/settings/activity").await;
    events.shows("Key created");
    events.hides(&token);
    assert_eq!(made.labels.action, "create_key");
    assert_eq!(made.labels.account.as_ref().unwrap().as_str(), "anna");
}

#[tokio::test]
async fn the_form_keeps_what_was_written_and_says_what_is_wrong() {
    let app = App::new().await;
    let response = create(&app, &[("name", " "), ("expires", "date"), ("date", "2026-11-21")]).await;
    assert_eq!(response.status, 400);
    for sentence in ["Fill it in.", "Choose at least one.", "That time has passed. Choose a later one."] {
        response.shows(sentence);
    }
    response.shows("value=\"2026-11-21\"");
    response.shows("value=\"date\" checked");
    assert_eq!(response.body.matches(" autofocus").count(), 1);
    let sign_in = create(&app, &[("name", "a b"), ("scope", "read:profile"), ("expires", "soon"), ("date", "")]).await;
    assert_eq!(sign_in.status, 400);
    sign_in.shows("value=\"a b\"");
    sign_in.shows("value=\"read:profile\" checked");
    assert_eq!(app.get("/settings/api/keys").await.data(), json!([]));
}

#[tokio::test]
async fn a_link_fills_the_form_and_makes_nothing() {
    let app = App::new().await;
    let plain = app.get("/settings/keys/new").await;
    plain.hides("came with the link");
    plain.shows("value=\"90d\" checked");
    assert!(!plain.body.contains("type=\"checkbox\" name=\"scope\" value=\"read:courses\" checked"));
    let filled = app.get("/settings/keys/new?name=Acme&scope=read:courses&scope=admin&expires=30d").await;
    filled.shows("These values came with the link. Check them.");
    filled.shows("value=\"Acme\"");
    filled.shows("value=\"read:courses\" checked");
    filled.shows("value=\"30d\" checked");
    filled.hides("admin");
    for value in ["name=Acme", "scope=read:courses", "expires=30d", "expires=never"] {
        app.get(&format!("/settings/keys/new?{value}")).await.shows("came with the link");
    }
    let unfit = app.get("/settings/keys/new?name=%0A&scope=admin&expires=1y&other=1").await;
    unfit.hides("came with the link");
    unfit.shows("value=\"90d\" checked");
    assert_eq!(app.get("/settings/api/keys").await.data(), json!([]));
}

#[tokio::test]
async fn a_date_is_good_until_its_end() {
    let app = App::new().await;
    let response =
        create(&app, &[("name", "a"), ("scope", "read:courses"), ("expires", "date"), ("date", "2026-11-22")]).await;
    assert_eq!(response.status, 201);
    assert_eq!(app.get("/settings/api/keys").await.data()[0]["expiresAt"], "2026-11-23T00:00:00.000Z");
    let never = create(&app, &[("name", "b"), ("scope", "read:courses"), ("expires", "never"), ("date", "")]).await;
    never.shows("never expires");
}

#[tokio::test]
async fn a_key_is_renamed() {
    let app = App::new().await;
    let key = app.make("partner").await;
    let id = key["id"].as_str().unwrap();
    let page = app.get(&format!("/settings/keys/{id}")).await;
    assert_eq!(page.status, 200);
    page.shows("Key created");
    page.shows(id);
    let response = app.post(&format!("/settings/keys/{id}/name"), &[("name", " Acme ")]).await;
    let there = format!("/settings?done=renamed&key={id}");
    assert_eq!((response.status, response.header("location")), (303, Some(there.as_str())));
    app.get(&there).await.shows("The key is called <bdi>Acme</bdi> now.");
    let wrong = app.post(&format!("/settings/keys/{id}/name"), &[("name", "a\u{202e}b")]).await;
    assert_eq!(wrong.status, 400);
    wrong.shows("It has a character that cannot be shown.");
    wrong.shows("value=\"a\u{202e}b\"");
    app.get(&format!("/settings/keys/{id}")).await.shows("Key renamed");
}

#[tokio::test]
async fn what_was_done_is_said_of_own_keys_alone() {
    let app = App::new().await;
    let key = app.make("partner").await;
    let id = key["id"].as_str().unwrap();
    for query in [
        "done=revoked&key=key_1".to_owned(),
        format!("done=deleted&key={id}"),
        "done=revoked".to_owned(),
        // It was not.
        format!("done=revoked&key={id}"),
    ] {
        app.get(&format!("/settings?{query}")).await.hides("role=\"status\"");
    }
    let foreign = app.ask_as("bert", get(&format!("/settings?done=renamed&key={id}"))).await;
    foreign.hides("role=\"status\"");
}

#[tokio::test]
async fn a_key_is_revoked_after_a_question() {
    let app = App::new().await;
    let key = app.make("partner").await;
    let page = format!("/settings/keys/{}/revoke", key["id"].as_str().unwrap());
    let unused = app.get(&page).await;
    unused.shows("Never used.");
    unused.shows("Uses are recorded at most once a minute.");
    app.record_use("anna", &key).await;
    app.clock.advance(180);
    let question = app.get(&page).await;
    question.shows("Whatever uses it is refused from the next request on. This cannot be undone.");
    question.shows("Something used it <time");
    question.shows("3 minutes ago");
    app.clock.advance(DAY - 180);
    let question = app.get(&page).await;
    question.shows("Last used <time");
    question.hides("Something used it");
    assert_eq!(app.get("/settings/api/keys").await.data()[0]["state"], "valid");
    for _ in 0..2 {
        let response = app.post(&page, &[]).await;
        assert_eq!(response.status, 303);
        app.get(response.header("location").unwrap()).await.shows("Revoked <bdi>partner</bdi>.");
    }
    app.get("/settings/activity").await.shows("Key revoked");
    let again = app.get(&page).await;
    assert_eq!((again.status, again.header("location")), (303, page.strip_suffix("/revoke")));
    assert_eq!(app.get("/settings/api/events").await.data().as_array().unwrap().len(), 2, "made, and revoked once");
}

#[tokio::test]
async fn a_key_is_rotated() {
    let app = App::new().await;
    let response = create(&app, &PARTNER).await;
    let id = app.get("/settings/api/keys").await.data()[0]["id"].as_str().unwrap().to_owned();
    let page = format!("/settings/keys/{id}");
    app.clock.advance(DAY);
    let nonce = app.nonce(&page).await;
    let wrong = app.post(&format!("{page}/rotate"), &[("nonce", &nonce), ("overlap", "2h")]).await;
    assert_eq!(wrong.status, 400);
    wrong.shows("Choose one of the values offered.");
    let rotated = app.post(&format!("{page}/rotate"), &[("nonce", &nonce), ("overlap", "24h")]).await;
    assert_eq!(rotated.status, 201);
    assert_ne!(rotated.token(), response.token());
    rotated.shows("2026-11-24T04:40:00.000Z");
    let keys = app.get("/settings/api/keys").await.data();
    let (new, old) = (&keys[0], &keys[1]);
    assert_eq!((&old["state"], &old["replacedBy"]), (&json!("ending"), &new["id"]));
    assert_eq!((&new["name"], &new["scopes"]), (&old["name"], &old["scopes"]));
    assert_eq!(new["expiresAt"], "2027-02-21T04:40:00.000Z", "as long as the old one was made for");
    let nonce = app.nonce("/settings/keys/new").await;
    let again = app.post(&format!("{page}/rotate"), &[("nonce", &nonce), ("overlap", "0")]).await;
    assert_eq!(again.status, 409);
    again.shows("It was rotated, revoked or has expired meanwhile.");
    let old_page = app.get(&page).await;
    old_page.hides("Rotate key");
    old_page.shows("◔");
    let new_address = format!("/settings/keys/{}", new["id"].as_str().unwrap());
    old_page.shows(&format!("<dt>Successor</dt><dd><a href=\"{new_address}\">"));
    old_page.hides("<dt>Replaces</dt>");
    let new_page = app.get(&new_address).await;
    new_page.shows("✓");
    new_page.hides("<dt>Successor</dt>");
    new_page.shows(&format!("<dt>Replaces</dt><dd><a href=\"{page}\">"));
    app.clock.advance(DAY);
    let ended = app.get(&page).await;
    ended.shows("✕");
    ended.shows("<dt>Expired</dt>");
    app.get("/settings/activity").await.shows("Key rotated");
}

#[tokio::test]
async fn each_overlap_lasts_as_long_as_it_says() {
    let app = App::new().await;
    for (choice, seconds) in [("0", 0), ("1h", 3_600), ("24h", 86_400), ("7d", 604_800)] {
        let id = app.make(choice).await["id"].as_str().unwrap().to_owned();
        let page = format!("/settings/keys/{id}");
        let nonce = app.nonce(&page).await;
        let rotated = app.post(&format!("{page}/rotate"), &[("nonce", &nonce), ("overlap", choice)]).await;
        assert_eq!(rotated.status, 201);
        let end = app.clock.now().checked_add(Duration::from_secs(seconds)).unwrap();
        let old = app.get(&format!("/settings/api/keys/{id}")).await.data();
        assert_eq!(old["expiresAt"], end.to_string(), "{choice}");
    }
}

#[tokio::test]
async fn the_last_changes_of_a_key_are_shown() {
    let app = App::new().await;
    let first = app.make("first").await;
    let first = first["id"].as_str().unwrap();
    app.get(&format!("/settings/keys/{first}")).await.hides("Older changes are not shown.");
    for _ in 0..980 {
        let (_, token) = NewCredential::oauth_token("anna".into(), Scopes::from_names(["read:courses"]));
        app.storage.create_key(&token, &Actor::OPERATOR).await.unwrap();
    }
    let busy = app.make("busy").await;
    let busy = busy["id"].as_str().unwrap();
    for number in 0..30 {
        let name = number.to_string();
        app.storage.rename_key(&"anna".into(), busy, &name, &Actor::OWNER).await.unwrap().unwrap();
    }
    let last = app.make("last").await;
    for (id, has_older, changes) in [(first, true, 0), (busy, false, 20), (last["id"].as_str().unwrap(), false, 1)] {
        let page = app.get(&format!("/settings/keys/{id}")).await;
        assert_eq!(page.body.contains("Older changes are not shown."), has_older, "{id}");
        let made_and_renamed = ["Key created", "Key renamed"].map(|change| page.body.matches(change).count());
        assert_eq!(made_and_renamed.iter().sum::<usize>(), changes, "{id}");
    }
}

#[tokio::test]
async fn a_reminder_is_a_calendar_file() {
    let app = App::new().await;
    create(&app, &PARTNER).await;
    let keys = app.get("/settings/api/keys").await.data();
    let id = keys[0]["id"].as_str().unwrap();
    let file = app.get(&format!("/settings/keys/{id}/reminder.ics")).await;
    assert_eq!((file.status, file.header("content-type")), (200, Some("text/calendar; charset=utf-8")));
    assert_eq!(file.header("content-disposition"), Some("attachment; filename=\"key-reminder.ics\""));
    file.shows("DTSTART;VALUE=DATE:20270206\r\n");
    file.shows(&format!("UID:{id}@catalogue\r\n"));
    file.hides("URL:");
    let (address, storage) = ("https://a.example/settings", app.storage.clone());
    let whole = App::over(storage.clone(), storage, |builder| builder.settings_url(address));
    let file = whole.get(&format!("/settings/keys/{id}/reminder.ics")).await;
    assert!(file.body.replace("\r\n ", "").contains(&format!("URL:{address}/keys/{id}\r\n")), "{}", file.body);
    // From then on it is on the day of the end.
    app.clock.advance(76 * DAY);
    app.get(&format!("/settings/keys/{id}/reminder.ics")).await.shows("DTSTART;VALUE=DATE:20270220\r\n");
    let endless = app.make("endless").await;
    let missing = app.get(&format!("/settings/keys/{}/reminder.ics", endless["id"].as_str().unwrap())).await;
    assert_eq!(missing.status, 404);
}

#[tokio::test]
async fn ended_keys_stand_apart() {
    let app = App::new().await;
    let mut oldest = json!(null);
    for number in 0..52 {
        let key = app.make(&format!("old {number}")).await;
        if number == 0 {
            oldest = key.clone();
        }
        let path = format!("/settings/api/keys/{}/revoke", key["id"].as_str().unwrap());
        assert_eq!(app.send("POST", &path, &json!({})).await.status, 200);
        app.clock.advance(1);
    }
    app.make("standing").await;
    let list = app.get("/settings").await;
    list.shows("Ended keys (50)");
    list.shows("The last 50 are shown.");
    let (holding, ended) = list.body.split_once("<details>").unwrap();
    assert!(holding.contains("standing") && !holding.contains("old 1"));
    assert_eq!(ended.matches("<li class=\"card\">").count(), 50);
    assert!(ended.contains("old 51<") && !ended.contains("old 1<"));
    let listed = app.get("/settings/api/keys").await.data();
    let names: Vec<_> = listed.as_array().unwrap().iter().map(|key| key["name"].as_str().unwrap()).collect();
    let expected: Vec<_> = (2..52).rev().map(|number| format!("old {number}")).collect();
    assert_eq!((names[0], &names[1..]), ("standing", &*expected.iter().map(String::as_str).collect::<Vec<_>>()));
    // An older one is found by its id, and by its token.
    let (id, token) = (oldest["id"].as_str().unwrap(), oldest["token"].as_str().unwrap());
    assert_eq!(app.get(&format!("/settings/api/keys/{id}")).await.data()["state"], "revoked");
    app.get(&format!("/settings/keys/{id}")).await.shows("old 0");
    app.post("/settings/check", &[("token", token)]).await.shows("old 0");
    assert_eq!(app.post(&format!("/settings/keys/{id}/name"), &[("name", "renamed")]).await.status, 303);
    assert_eq!(app.get(&format!("/settings/api/keys/{id}")).await.data()["name"], "renamed");
}

#[tokio::test]
async fn a_foreign_an_unknown_and_an_odd_id_are_one_page() {
    let app = App::new().await;
    let foreign = app.ask_as("bert", crate::app::json("POST", "/settings/api/keys", &partner())).await.data();
    let foreign = foreign["id"].as_str().unwrap().to_owned();
    for below in ["", "/revoke", "/reminder.ics"] {
        let pages: Vec<_> =
            futures(&app, [&foreign, "key_0198c0de", "%00", "a%2Fb", "oauth:1", "é", "%ff"], below).await;
        assert!(pages.iter().all(|(status, body)| *status == 404 && *body == pages[0].1), "{pages:?}");
    }
    for (below, fields) in [("name", vec![("name", "a")]), ("revoke", vec![])] {
        let mut bodies = Vec::new();
        for id in [&*foreign, "key_0198c0de"] {
            let response = app.post(&format!("/settings/keys/{id}/{below}"), &fields).await;
            bodies.push((response.status, response.body));
        }
        assert_eq!(bodies[0].0, 404);
        assert_eq!(bodies[0], bodies[1]);
    }
    let keys = app.ask_as("bert", get("/settings/api/keys")).await.data();
    assert_eq!((&keys[0]["state"], &keys[0]["name"]), (&json!("valid"), &json!("partner")));
}

fn partner() -> Value {
    json!({ "name": "partner", "scopes": ["read:courses"], "expiresAt": null })
}

async fn futures(app: &App, ids: [&str; 7], below: &str) -> Vec<(u16, String)> {
    let mut pages = Vec::new();
    for id in ids {
        let Ok(uri) = format!("/settings/keys/{id}{below}").parse::<http::Uri>() else { continue };
        let response = app.ask(http::Request::get(uri).body(String::new()).unwrap()).await;
        pages.push((response.status, response.body));
    }
    pages
}

#[tokio::test]
async fn paths_that_mean_nothing() {
    let app = App::new().await;
    for path in
        ["/settings//", "/settings/keys/", "/settings/nothing", "/settings/sign-in", "/elsewhere", "/settings/api"]
    {
        let response = app.get(path).await;
        assert_eq!((response.status, response.labels.action == "sign_in"), (404, false), "{path}");
        assert_eq!(response.body.contains("<title>Not found"), path != "/settings/api", "{path}");
    }
    assert_eq!(app.ask(form("/settings/sign-out", &[])).await.status, 404);
}

/// A host's own session leaves nothing to sign in to, by any method.
#[tokio::test]
async fn who_is_known_has_no_pages_to_sign_in() {
    let app = App::new().await;
    for path in ["/settings/sign-in", "/settings/sign-out"] {
        let response = app.get(path).await;
        assert_eq!(response.status, 404, "{path}");
        response.shows("Back to the keys");
        assert_eq!(app.post(path, &[]).await.status, 404, "{path}");
    }
}

/// Without script nothing puts the address in.
#[tokio::test]
async fn the_line_for_curl_says_what_to_fill_in() {
    let app = App::new().await;
    app.get("/settings").await.shows("<noscript><p class=\"hint\">Write this server's address in place of $SERVER");
    let storage = crate::app::storage().await;
    let whole = App::over(storage.clone(), storage, |builder| builder.base_url("https://api.example.com/api/v1"));
    whole.get("/settings").await.hides("$SERVER");
}
