//! Pages and forms.

use std::collections::BTreeSet;
use std::time::Duration;

use catalogue_core::admin::NewCredential;
use catalogue_core::auth::Scopes;
use catalogue_core::storage::{Actor, KeyStorage as _};
use catalogue_settings::Owner;
use serde_json::json;

use crate::app::{App, DAY, Key, TestResponse, get, json_request, new_key};

/// Submits the form for a new key like a browser does.
async fn create(app: &App, fields: &[(&str, &str)]) -> TestResponse {
    let nonce = app.nonce("/settings/keys/new").await;
    let mut all = vec![("nonce", nonce.as_str())];
    all.extend(fields);
    app.post("/settings/keys", &all).await
}

const PARTNER: [(&str, &str); 4] = [("name", "partner"), ("scope", "read:courses"), ("expires", "90d"), ("date", "")];

#[tokio::test]
async fn created_key_is_shown_once_and_listed() {
    let app = App::new().await;
    let empty = app.get("/settings").await;
    assert_eq!(empty.status, 200);
    empty.shows("<bdi>Course Catalogue Read API</bdi>");
    empty.shows("No keys yet");
    empty.shows("href=\"/settings/keys/new\"");
    empty.shows("action=\"/settings/check\"");
    let created = create(&app, &PARTNER).await;
    assert_eq!(created.status, 201);
    created.shows("<title>Key created");
    created.shows("You will not see it again.");
    created.shows("data-try=\"/api/v1/me\"");
    let token = created.token();
    assert_eq!(created.body.matches(&token).count(), 1);
    let list = app.get("/settings/").await;
    list.shows("partner");
    list.shows(&format!("{}…", &token[..8]));
    list.shows("data-label=\"Last used\">never</td>");
    list.shows("data-label=\"Expires\"><time");
    list.shows("in 90 days");
    list.hides("class=\"state\"");
    list.hides(&token);
    let events = app.get("/settings/activity").await;
    events.shows("Key created");
    events.shows("data-label=\"By\"><bdi>anna</bdi>");
    events.hides(&token);
    let owner = Owner::new("anna".into()).display_name("School of Anna");
    let events = app.call_by(owner, get("/settings/activity")).await;
    events.shows("data-label=\"By\"><bdi>School of Anna</bdi>");
    assert_eq!(created.labels.action, "create_key");
    assert_eq!(created.labels.account.as_ref().unwrap().as_str(), "anna");
}

#[tokio::test]
async fn invalid_form_keeps_input_and_names_problems() {
    let app = App::new().await;
    let response = create(&app, &[("name", " "), ("expires", "date"), ("date", "2026-11-21")]).await;
    assert_eq!(response.status, 400);
    for sentence in ["Give the key a name.", "Choose at least one.", "That time has passed. Choose a later one."] {
        response.shows(sentence);
    }
    response.shows("value=\"2026-11-21\"");
    response.shows("value=\"date\" checked");
    assert_eq!(response.body.matches(" autofocus").count(), 1);
    let second = create(&app, &[("name", "a b"), ("scope", "read:profile"), ("expires", "soon"), ("date", "")]).await;
    assert_eq!(second.status, 400);
    second.shows("value=\"a b\"");
    second.shows("value=\"read:profile\" checked");
    assert!(app.keys().await.is_empty());
}

#[tokio::test]
async fn link_fills_form_but_creates_no_key() {
    let app = App::new().await;
    let plain = app.get("/settings/keys/new").await;
    plain.hides("came with the link");
    plain.shows("value=\"90d\" checked");
    plain.shows("value=\"read:courses\" checked");
    plain.hides("value=\"read:profile\" checked");
    for date in ["2026-11-29", "2026-12-22", "2027-02-20", "2027-11-22"] {
        plain.shows(&format!("<span class=\"hint\">{date}</span>"));
    }
    let filled = app.get("/settings/keys/new?name=Acme&scope=read:courses&scope=admin&expires=30d").await;
    filled.shows("These values came with the link. Check them.");
    filled.shows("value=\"Acme\"");
    filled.shows("value=\"read:courses\" checked");
    filled.shows("value=\"30d\" checked");
    filled.hides("admin");
    for value in ["name=Acme", "scope=read:courses", "expires=30d", "expires=never"] {
        app.get(&format!("/settings/keys/new?{value}")).await.shows("came with the link");
    }
    let invalid = app.get("/settings/keys/new?name=%0A&scope=admin&expires=1y&other=1").await;
    invalid.hides("came with the link");
    invalid.shows("value=\"90d\" checked");
    assert!(app.keys().await.is_empty());
}

#[tokio::test]
async fn expiry_date_includes_whole_day() {
    let app = App::new().await;
    for (day, end, reminder) in [
        ("2026-11-22", "2026-11-23T00:00:00.000Z", "20261122"),
        ("2026-11-30", "2026-12-01T00:00:00.000Z", "20261130"),
        ("2027-05-01", "2027-05-02T00:00:00.000Z", "20270417"),
    ] {
        let fields = [("name", day), ("scope", "read:courses"), ("expires", "date"), ("date", day)];
        assert_eq!(create(&app, &fields).await.status, 201);
        let key = Key::of(app.keys().await.into_iter().find(|key| key["name"] == day).unwrap());
        assert_eq!(key.data["expiresAt"], end);
        let file = app.get(&key.page("/reminder.ics")).await;
        file.shows(&format!("DTSTART;VALUE=DATE:{reminder}\r\n"));
        file.shows(&format!("ends on {day}"));
    }
    app.get("/settings").await.shows("title=\"2027-05-02T00:00:00.000Z\">on 2027-05-01</time>");
    let never = create(&app, &[("name", "b"), ("scope", "read:courses"), ("expires", "never"), ("date", "")]).await;
    never.shows("<dt>Expires</dt><dd>never</dd>");
}

#[tokio::test]
async fn key_can_be_renamed() {
    let (app, key) = App::with_key().await;
    let page = app.get(&key.page("")).await;
    assert_eq!(page.status, 200);
    page.shows("Key created");
    page.shows(&key.id);
    let response = app.post(&key.page("/name"), &[("name", " Acme ")]).await;
    let list = format!("/settings?done=renamed&key={}", key.id);
    assert_eq!((response.status, response.header("location")), (303, Some(list.as_str())));
    app.get(&list).await.shows("The key is now called <bdi>Acme</bdi>.");
    let wrong = app.post(&key.page("/name"), &[("name", "a\u{202e}b")]).await;
    assert_eq!(wrong.status, 400);
    wrong.shows("This field has a character that cannot be displayed.");
    wrong.shows("value=\"a\u{202e}b\"");
    let page = app.get(&key.page("")).await;
    page.shows("Key renamed");
    page.shows("<details class=\"rename\">");
    app.post(&key.page("/revoke"), &[]).await;
    app.get(&key.page("")).await.hides("Rename");
}

#[tokio::test]
async fn success_message_is_shown_only_if_true() {
    let (app, Key { id, .. }) = App::with_key().await;
    for query in [
        "done=revoked&key=key_1".to_owned(),
        format!("done=deleted&key={id}"),
        "done=revoked".to_owned(),
        // The key is not revoked.
        format!("done=revoked&key={id}"),
    ] {
        app.get(&format!("/settings?{query}")).await.hides("role=\"status\"");
    }
    let other_account = app.call_as("bert", get(&format!("/settings?done=renamed&key={id}"))).await;
    other_account.hides("role=\"status\"");
}

#[tokio::test]
async fn key_is_revoked_after_confirmation() {
    let (app, key) = App::with_key().await;
    let page = key.page("/revoke");
    let unused = app.get(&page).await;
    unused.shows("It was never used. Uses appear within a minute.");
    app.record_use(&key).await;
    app.clock.advance(180);
    let confirmation = app.get(&page).await;
    confirmation.shows("Programs that use it are refused from the next request on. This cannot be undone.");
    confirmation.shows("<p class=\"warning\">");
    confirmation
        .shows("3 minutes ago</time> (<time datetime=\"2026-11-22T04:40:00.000Z\">2026-11-22 04:40 UTC</time>)");
    app.clock.advance(DAY - 180);
    let confirmation = app.get(&page).await;
    confirmation.shows("It was last used <time");
    confirmation.hides("<p class=\"warning\">");
    assert_eq!(app.keys().await[0]["state"], "valid");
    for _ in 0..2 {
        let response = app.post(&page, &[]).await;
        assert_eq!(response.status, 303);
        app.get(response.header("location").unwrap()).await.shows("Revoked <bdi>partner</bdi>.");
    }
    app.get("/settings/activity").await.shows("Key revoked");
    let again = app.get(&page).await;
    assert_eq!((again.status, again.header("location")), (303, page.strip_suffix("/revoke")));
    assert_eq!(app.get("/settings/api/events").await.data().as_array().unwrap().len(), 2, "created, and revoked once");
}

#[tokio::test]
async fn rotation_creates_successor_and_ends_old_key() {
    let app = App::new().await;
    let response = create(&app, &PARTNER).await;
    let page = Key::of(app.keys().await.remove(0)).page("");
    app.clock.advance(DAY);
    let nonce = app.nonce(&page).await;
    let wrong = app.post(&format!("{page}/rotate"), &[("nonce", &nonce), ("overlap", "2h")]).await;
    assert_eq!(wrong.status, 400);
    wrong.shows("Choose one of the offered values.");
    let rotated = app.post(&format!("{page}/rotate"), &[("nonce", &nonce), ("overlap", "24h")]).await;
    assert_eq!(rotated.status, 201);
    assert_ne!(rotated.token(), response.token());
    rotated.shows("2026-11-24T04:40:00.000Z");
    let keys = app.keys().await;
    let (new, old) = (&keys[0], &keys[1]);
    assert_eq!((&old["state"], &old["replacedBy"]), (&json!("ending"), &new["id"]));
    assert_eq!((&new["name"], &new["scopes"]), (&old["name"], &old["scopes"]));
    assert_eq!(new["expiresAt"], "2027-02-21T04:40:00.000Z", "the new key has the lifetime of the old one");
    let nonce = app.nonce("/settings/keys/new").await;
    let again = app.post(&format!("{page}/rotate"), &[("nonce", &nonce), ("overlap", "0")]).await;
    assert_eq!(again.status, 409);
    again.shows("This key has been rotated or revoked, or has expired.");
    let old_page = app.get(&page).await;
    old_page.hides("Rotate key");
    old_page.shows("◔");
    let list = app.get("/settings").await;
    assert_eq!(list.body.matches("<tbody>").count(), 1, "a key and its successor are one group");
    let new_url = Key::of(new.clone()).page("");
    old_page.shows(&format!("<dt>Successor</dt><dd><a href=\"{new_url}\">"));
    old_page.hides("<dt>Replaces</dt>");
    let new_page = app.get(&new_url).await;
    new_page.hides("class=\"state");
    new_page.hides("<dt>Successor</dt>");
    new_page.shows(&format!("<dt>Replaces</dt><dd><a href=\"{page}\">"));
    app.clock.advance(DAY);
    let ended = app.get(&page).await;
    ended.shows("✕");
    ended.shows("<dt>Expired</dt>");
    app.get("/settings/activity").await.shows("Key rotated");
}

#[tokio::test]
async fn overlap_choices_set_expiry_of_old_key() {
    let app = App::new().await;
    for (choice, seconds) in [("0", 0), ("1h", 3_600), ("24h", 86_400), ("7d", 604_800)] {
        let key = app.make(choice).await;
        let nonce = app.nonce(&key.page("")).await;
        let rotated = app.post(&key.page("/rotate"), &[("nonce", &nonce), ("overlap", choice)]).await;
        assert_eq!(rotated.status, 201);
        let end = app.clock.now().checked_add(Duration::from_secs(seconds)).unwrap();
        let old = app.get(&key.api("")).await.data();
        assert_eq!(old["expiresAt"], end.to_string(), "{choice}");
    }
}

#[tokio::test]
async fn key_page_shows_last_20_changes() {
    let app = App::new().await;
    let first = app.make("first").await;
    app.get(&first.page("")).await.hides("Older changes are not shown.");
    for _ in 0..980 {
        let (_, token) = NewCredential::oauth_token("anna".into(), Scopes::from_names(["read:courses"]));
        app.storage.memory.create_key(&token, &Actor::OPERATOR).await.unwrap();
    }
    let busy = app.make("busy").await;
    for number in 0..30 {
        let name = number.to_string();
        app.storage.memory.rename_key(&"anna".into(), &busy.id, &name, &Actor::OWNER).await.unwrap().unwrap();
    }
    let last = app.make("last").await;
    for (key, has_older, changes) in [(first, true, 0), (busy, false, 20), (last, false, 1)] {
        let page = app.get(&key.page("")).await;
        let name = &key.data["name"];
        assert_eq!(page.body.contains("Older changes are not shown."), has_older, "{name}");
        let created_and_renamed = ["Key created", "Key renamed"].map(|change| page.body.matches(change).count());
        assert_eq!(created_and_renamed.iter().sum::<usize>(), changes, "{name}");
    }
}

#[tokio::test]
async fn reminder_is_calendar_file() {
    let app = App::new().await;
    create(&app, &PARTNER).await;
    let key = Key::of(app.keys().await.remove(0));
    let file = app.get(&key.page("/reminder.ics")).await;
    assert_eq!((file.status, file.header("content-type")), (200, Some("text/calendar; charset=utf-8")));
    assert_eq!(file.header("content-disposition"), Some("attachment; filename=\"key-reminder.ics\""));
    file.shows("DTSTART;VALUE=DATE:20270206\r\n");
    file.shows(&format!("UID:{}@catalogue\r\n", key.id));
    file.shows("DTSTAMP:20261122T044000Z\r\n");
    file.hides("URL:");
    let url = "https://a.example/settings";
    let with_origin = App::over(app.storage.clone(), |builder| builder.settings_url(url));
    let file = with_origin.get(&key.page("/reminder.ics")).await;
    assert!(file.body.replace("\r\n ", "").contains(&format!("URL:{url}/keys/{}\r\n", key.id)), "{}", file.body);
    // From two weeks before the expiry on, the reminder is on the day of the expiry.
    app.clock.advance(76 * DAY);
    app.get(&key.page("/reminder.ics")).await.shows("DTSTART;VALUE=DATE:20270220\r\n");
    let missing = app.get(&app.make("endless").await.page("/reminder.ics")).await;
    assert_eq!(missing.status, 404);
}

#[tokio::test]
async fn ended_keys_are_listed_separately() {
    let app = App::new().await;
    let mut keys = Vec::new();
    for number in 0..52 {
        keys.push(app.make(&format!("old {number}")).await);
        assert_eq!(app.send("POST", &keys[number].api("/revoke"), &json!({})).await.status, 200);
        app.clock.advance(1);
    }
    app.make("partner").await;
    let list = app.get("/settings").await;
    list.shows("Ended keys (50)");
    list.shows("The last 50 are shown.");
    let (valid, ended) = list.body.split_once("<details class=\"ended\">").unwrap();
    assert!(valid.contains("partner") && !valid.contains("old 1"));
    assert_eq!(ended.matches("<th scope=\"row\">").count(), 50);
    assert!(ended.contains("old 51<") && !ended.contains("old 1<"));
    let names: Vec<_> = app.keys().await.iter().map(|key| key["name"].as_str().unwrap().to_owned()).collect();
    let expected: Vec<_> = (2..52).rev().map(|number| format!("old {number}")).collect();
    assert_eq!((&*names[0], &names[1..]), ("partner", &*expected));
    // An older key is found by its id and by its token.
    let oldest = &keys[0];
    assert_eq!(app.get(&oldest.api("")).await.data()["state"], "revoked");
    app.get(&oldest.page("")).await.shows("old 0");
    app.post("/settings/check", &[("token", &oldest.token)]).await.shows("old 0");
    assert_eq!(app.post(&oldest.page("/name"), &[("name", "renamed")]).await.status, 303);
    assert_eq!(app.get(&oldest.api("")).await.data()["name"], "renamed");
}

#[tokio::test]
async fn other_accounts_unknown_and_malformed_ids_return_same_404() {
    let app = App::new().await;
    let create = json_request("POST", "/settings/api/keys", &new_key("partner"));
    let others_key = Key::of(app.call_as("bert", create).await.data());
    for below in ["", "/revoke", "/reminder.ics"] {
        let mut bodies = BTreeSet::new();
        for id in [&*others_key.id, "key_0198c0de", "%00", "a%2Fb", "oauth:1", "é", "%ff"] {
            let page = app.get(&format!("/settings/keys/{id}{below}")).await;
            assert_eq!(page.status, 404, "{id}{below}");
            bodies.insert(page.body);
        }
        assert_eq!(bodies.len(), 1, "{bodies:?}");
    }
    for (below, fields) in [("name", &[("name", "a")][..]), ("revoke", &[])] {
        let mut bodies = BTreeSet::new();
        for id in [&*others_key.id, "key_0198c0de"] {
            let response = app.post(&format!("/settings/keys/{id}/{below}"), fields).await;
            assert_eq!(response.status, 404, "{below}");
            bodies.insert(response.body);
        }
        assert_eq!(bodies.len(), 1, "{bodies:?}");
    }
    let keys = app.call_as("bert", get("/settings/api/keys")).await.data();
    assert_eq!((&keys[0]["state"], &keys[0]["name"]), (&json!("valid"), &json!("partner")));
}

/// The pages for signing in are unknown too: the host application has already signed the owner in.
#[tokio::test]
async fn unknown_paths_return_404() {
    let app = App::new().await;
    for path in [
        "/settings//",
        "/settings/keys/",
        "/settings/nothing",
        "/settings/sign-in",
        "/settings/sign-out",
        "/elsewhere",
        "/settings/api",
    ] {
        let response = app.get(path).await;
        assert_eq!((response.status, response.labels.action == "sign_in"), (404, false), "{path}");
        assert_eq!(response.body.contains("<title>Not found"), path != "/settings/api", "{path}");
        if path.contains("sign") {
            response.shows("Back to the keys");
            assert_eq!(app.post(path, &[]).await.status, 404, "{path}");
        }
    }
}

/// Without script, nothing inserts the URL into the page.
#[tokio::test]
async fn curl_line_names_server_or_explains_placeholder() {
    let (app, _) = App::with_key().await;
    app.get("/settings").await.shows("<noscript><p class=\"hint\">Replace $SERVER with this server's URL");
    let with_origin = App::with(|builder| builder.base_url("https://api.example.com/api/v1")).await;
    with_origin.make("partner").await;
    with_origin.get("/settings").await.hides("$SERVER");
}
