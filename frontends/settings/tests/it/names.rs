//! Names and other text that third parties choose, on all pages.

use catalogue_core::admin::NewCredential;
use catalogue_core::auth::Scopes;
use catalogue_core::storage::{Actor, KeyStorage};
use catalogue_settings::Owner;

use crate::app::{App, TestResponse, form, get};

const HOSTILE: [&str; 7] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' autofocus onfocus='alert(1)",
    "</title><svg onload=alert(1)>",
    "&lt;b&gt;",
    "</bdi></style><iframe>",
    "a\u{202e}b\u{0}c\r\nSet-Cookie: a=b",
];

/// Asserts that `name` has added no element, attribute or header to the page.
#[track_caller]
fn assert_harmless(page: &TestResponse, name: &str) {
    let body = page.body.replace("<script>\"use strict\"", "").to_ascii_lowercase();
    for piece in ["<script>a", "<img", "<svg onload", "<iframe", "\" onerror", "\" autofocus onfocus", "<b>"] {
        assert!(!body.contains(piece), "{piece} by {name:?} in {body}");
    }
    assert!(page.headers.get("set-cookie").is_none());
}

#[tokio::test]
async fn names_are_escaped_on_all_pages() {
    let app = App::with(|builder| builder.brand(HOSTILE[0], "/\"><script>a")).await;
    for name in HOSTILE {
        // Stored directly, because the form refuses some of these names.
        let (_, key) = NewCredential::api_key("anna".into(), name, Scopes::from_names(["read:courses", "<script>a"]));
        let id = key.record.identity.credential_id.to_string();
        app.storage.memory.create_key(&key, &Actor::owner_named(name)).await.unwrap();
        let owner = || Owner::new("anna".into()).acting_as(name).display_name(name).sign_out_url(name);
        let key_page = format!("/settings/keys/{id}");
        let mut requests = vec![
            get("/settings"),
            get("/settings/activity"),
            get(&key_page),
            get(&format!("{key_page}/revoke")),
            get(&format!("/settings?done=renamed&key={id}")),
            form(&format!("{key_page}/name"), &[("name", &format!("{name}\u{202e}"))]),
            form(
                "/settings/keys",
                &[("name", name), ("scope", name), ("expires", name), ("date", name), ("nonce", name)],
            ),
            form("/settings/check", &[("token", name)]),
        ];
        let query: String = form_urlencoded::byte_serialize(name.as_bytes()).collect();
        requests.push(get(&format!("/settings/keys/new?name={query}")));
        let mut count = 0;
        for request in requests {
            let page = app.call_by(owner(), request).await;
            assert!(matches!(page.status, 200 | 400), "{}", page.status);
            assert_harmless(&page, name);
            count += usize::from(page.body.contains("<bdi>"));
        }
        assert_eq!(count, 9, "each page shows the owner");
        let file = app.get(&format!("{key_page}/reminder.ics")).await;
        assert_eq!(file.status, 404);
        let rotate = form(&format!("{key_page}/rotate"), &[("nonce", &app.nonce(&key_page).await), ("overlap", "1h")]);
        let created = app.call(rotate).await;
        assert_eq!(created.status, 201);
        assert_harmless(&created, name);
        let revoke = app.post(&format!("{key_page}/revoke"), &[]).await;
        assert_harmless(&app.get(revoke.header("location").unwrap()).await, name);
    }
    let odd = app.get("/settings/keys/%3Cscript%3Ea").await;
    assert_harmless(&odd, "an id");
}
