//! One catalogue at several URLs: the links of a response use the URL of the request (decisions R1 and A18).

use catalogue_core::auth::{Identity, Scopes};
use catalogue_core::{AccountId, BuildError, Catalogue};
use http::{Method, Request};
use serde_json::Value;

use crate::app::{OWNER, TestApp, TestResponse, course};
use crate::clock::Clock;

/// Sends a request of a caller that the host application identified.
async fn send(catalogue: &Catalogue, target: &str) -> TestResponse {
    let caller = Identity::api_key(AccountId::new(OWNER), "session", Scopes::from_names(["read:courses"]));
    TestResponse::from(catalogue.call_as(caller, Request::get(target).body(()).unwrap()).await)
}

/// Returns the slugs of all pages, following each link from `start`.
async fn follow_links(catalogue: &Catalogue, start: &str) -> Vec<String> {
    crate::app::follow_links(start, async |target: String| send(catalogue, &target).await).await
}

#[tokio::test]
async fn links_stay_on_the_mount_of_the_request() {
    let app = TestApp::new().await;
    app.put(["a", "b", "c"].into_iter().zip(0..).map(|(slug, age)| course(slug, age))).await;
    let my_mount = app.catalogue.mounted_at("/my").unwrap();
    let absolute = app.catalogue.mounted_at("https://app.example.com/my/catalogue").unwrap();
    let all_slugs = follow_links(&app.catalogue, "/api/v1/courses").await;
    assert_eq!(all_slugs.len(), 3);
    // Each page is cached for both mounts: the second pass must not get the links of the other mount.
    for _ in 0..2 {
        assert_eq!(follow_links(&app.catalogue, "/api/v1/courses?limit=1").await, all_slugs);
        assert_eq!(follow_links(&my_mount, "/my/courses?limit=1").await, all_slugs);
    }
    let link = send(&my_mount, "/my/courses?limit=1").await.next_page().unwrap();
    assert!(link.starts_with("/my/courses?cursor=") && link.ends_with("&limit=1"), "{link}");
    let link = send(&absolute, "/my/catalogue/courses?limit=1").await.next_page().unwrap();
    assert!(link.starts_with("https://app.example.com/my/catalogue/courses?cursor="), "{link}");
}

#[tokio::test]
async fn mount_serves_only_its_own_paths() {
    let app = TestApp::new().await;
    let my_mount = app.catalogue.mounted_at("/my").unwrap();
    for (catalogue, target, status) in [
        (&my_mount, "/my/me", 200),
        (&my_mount, "/my/nothing", 404),
        (&my_mount, "/api/v1/me", 404),
        (&app.catalogue, "/my/me", 404),
    ] {
        assert_eq!(send(catalogue, target).await.status, status, "{target}");
    }
    let document: Value = serde_json::from_slice(&send(&my_mount, "/my/openapi.json").await.body).unwrap();
    assert_eq!(document["servers"][0]["url"], "/my");
}

#[tokio::test]
async fn etag_depends_on_mount_and_not_on_process() {
    let (one, other) = (TestApp::new().await, TestApp::new().await);
    // Another process may have had other mounts before this one.
    let mounts = ["/a", "/b", "/my"].map(|base| one.catalogue.mounted_at(base).unwrap());
    let tag = async |catalogue: &Catalogue, target| send(catalogue, target).await.header("etag").unwrap().to_owned();
    let me_tag = tag(&mounts[2], "/my/me").await;
    assert_eq!(me_tag, tag(&other.catalogue.mounted_at("/my").unwrap(), "/my/me").await);
    let absolute = one.catalogue.mounted_at("https://example.com/api/v1").unwrap();
    let my_tag = tag(&mounts[2], "/my/courses").await;
    let usual_tag = tag(&one.catalogue, "/api/v1/courses").await;
    let absolute_tag = tag(&absolute, "/api/v1/courses").await;
    assert!(my_tag != usual_tag && absolute_tag != usual_tag && my_tag != absolute_tag);
}

#[tokio::test]
async fn mounts_share_limits_and_page_cache() {
    let clock = Clock::new();
    let app = TestApp::with(|builder| builder.rate_limiter(clock.limiter(2, 60))).await;
    let my_mount = app.catalogue.mounted_at("/my").unwrap();
    assert_eq!(send(&app.catalogue, "/api/v1/courses").await.status, 200);
    assert_eq!(send(&my_mount, "/my/courses").await.status, 200);
    assert_eq!(send(&my_mount, "/my/courses").await.status, 429);
    assert_eq!((my_mount.page_cache(), my_mount.page_cache().misses), (app.catalogue.page_cache(), 2));
    assert_eq!(app.send(Method::GET, "/docs", &[]).await.status, 200);
}

#[tokio::test]
async fn invalid_mount_urls_are_refused() {
    let app = TestApp::new().await;
    assert!(matches!(app.catalogue.mounted_at("my"), Err(BuildError::BaseUrl(_))));
    assert!(matches!(app.catalogue.mounted_at("/docs"), Err(BuildError::SamePath(_))));
    let usual = Catalogue::with_api_keys(app.storage.clone()).docs_url("/my/courses").build().unwrap();
    assert!(matches!(usual.mounted_at("/my"), Err(BuildError::Collision { .. })));
}
