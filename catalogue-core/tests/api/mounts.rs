//! One catalogue at several addresses: what an answer names is where its caller asked (decisions R1 and A18).

use catalogue_core::auth::{Identity, Scopes};
use catalogue_core::{AccountId, BuildError, Catalogue};
use http::{Method, Request};
use serde_json::Value;

use crate::app::{OWNER, TestApp, TestResponse, course};
use crate::clock::Clock;

/// Asks as a caller whom the host knows.
async fn ask(catalogue: &Catalogue, target: &str) -> TestResponse {
    let caller = Identity::api_key(AccountId::new(OWNER), "session", Scopes::from_names(["read:courses"]));
    TestResponse::from(catalogue.call_as(caller, Request::get(target).body(()).unwrap()).await)
}

/// What stands between `<` and `>` in the answer's `Link`.
fn next(response: &TestResponse) -> Option<String> {
    let (address, _) = response.header("link")?.strip_prefix('<')?.split_once(">; rel=\"next\"")?;
    Some(address.to_owned())
}

/// The slugs that following each `Link` from `start` leads to.
async fn walk(catalogue: &Catalogue, start: &str) -> Vec<String> {
    let mut slugs = Vec::new();
    let mut target = Some(start.to_owned());
    while let Some(address) = target {
        let response = ask(catalogue, &address).await;
        let page: Value = serde_json::from_slice(&response.body).unwrap();
        slugs.extend(page["data"].as_array().unwrap().iter().map(|item| item["slug"].as_str().unwrap().to_owned()));
        target = next(&response);
    }
    slugs
}

#[tokio::test]
async fn a_walk_by_links_stays_where_it_began() {
    let app = TestApp::new().await;
    app.put(["a", "b", "c"].into_iter().zip(0..).map(|(slug, age)| course(slug, age))).await;
    let mine = app.catalogue.mounted_at("/my").unwrap();
    let named = app.catalogue.mounted_at("https://app.example.com/my/catalogue").unwrap();
    let whole = walk(&app.catalogue, "/api/v1/courses").await;
    assert_eq!(whole.len(), 3);
    // Each page is kept twice over: the second walk must not be led to the first one's addresses.
    for _ in 0..2 {
        assert_eq!(walk(&app.catalogue, "/api/v1/courses?limit=1").await, whole);
        assert_eq!(walk(&mine, "/my/courses?limit=1").await, whole);
    }
    let link = next(&ask(&mine, "/my/courses?limit=1").await).unwrap();
    assert!(link.starts_with("/my/courses?cursor=") && link.ends_with("&limit=1"), "{link}");
    let link = next(&ask(&named, "/my/catalogue/courses?limit=1").await).unwrap();
    assert!(link.starts_with("https://app.example.com/my/catalogue/courses?cursor="), "{link}");
}

#[tokio::test]
async fn nothing_else_is_there() {
    let app = TestApp::new().await;
    let mine = app.catalogue.mounted_at("/my").unwrap();
    for (catalogue, target, status) in [
        (&mine, "/my/me", 200),
        (&mine, "/my/nothing", 404),
        (&mine, "/api/v1/me", 404),
        (&app.catalogue, "/my/me", 404),
    ] {
        assert_eq!(ask(catalogue, target).await.status, status, "{target}");
    }
    let document: Value = serde_json::from_slice(&ask(&mine, "/my/openapi.json").await.body).unwrap();
    assert_eq!(document["servers"][0]["url"], "/my");
}

#[tokio::test]
async fn a_tag_holds_for_one_address_and_in_every_process() {
    let (one, other) = (TestApp::new().await, TestApp::new().await);
    // As many mounts as another process may have had before.
    let mounts = ["/a", "/b", "/my"].map(|base| one.catalogue.mounted_at(base).unwrap());
    let tag = async |catalogue: &Catalogue, target| ask(catalogue, target).await.header("etag").unwrap().to_owned();
    let here = tag(&mounts[2], "/my/me").await;
    assert_eq!(here, tag(&other.catalogue.mounted_at("/my").unwrap(), "/my/me").await);
    let (mine, usual) = (tag(&mounts[2], "/my/courses").await, tag(&one.catalogue, "/api/v1/courses").await);
    assert_ne!(mine, usual);
}

#[tokio::test]
async fn limits_and_kept_answers_are_shared() {
    let clock = Clock::new();
    let app = TestApp::with(|builder| builder.rate_limiter(clock.limiter(2, 60))).await;
    let mine = app.catalogue.mounted_at("/my").unwrap();
    assert_eq!(ask(&app.catalogue, "/api/v1/courses").await.status, 200);
    assert_eq!(ask(&mine, "/my/courses").await.status, 200);
    assert_eq!(ask(&mine, "/my/courses").await.status, 429);
    assert_eq!((mine.page_cache(), mine.page_cache().misses), (app.catalogue.page_cache(), 2));
    assert_eq!(app.send(Method::GET, "/docs", &[]).await.status, 200);
}

#[tokio::test]
async fn an_address_that_cannot_be_is_refused() {
    let app = TestApp::new().await;
    assert!(matches!(app.catalogue.mounted_at("my"), Err(BuildError::BaseUrl(_))));
    assert!(matches!(app.catalogue.mounted_at("/docs"), Err(BuildError::SamePath(_))));
    let usual = Catalogue::with_api_keys(app.storage.clone()).docs_url("/my/courses").build().unwrap();
    assert!(matches!(usual.mounted_at("/my"), Err(BuildError::Collision { .. })));
}
