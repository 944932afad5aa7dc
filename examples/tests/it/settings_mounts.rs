//! The developer settings on warp and on actix-web, mounted as in their README.

use std::net::TcpListener;

use actix_web::{App, HttpRequest, HttpServer, web};
use catalogue_core::AccountId;
use catalogue_core::admin::AdminStorage;
use catalogue_core::storage::MemoryStorage;
use catalogue_settings::{DeveloperSettings, Owner};
use catalogue_storage_conformance::sample;
use http_body_util::Full;
use warp::Filter;
use warp::hyper::body::Bytes;

use crate::http::{TestResponse, request};

async fn settings() -> DeveloperSettings {
    let storage = MemoryStorage::new();
    let mut import = storage.begin_import().await.unwrap();
    import.put_account(&sample::account("acc")).await.unwrap();
    import.commit().await.unwrap();
    DeveloperSettings::builder(storage).build().unwrap()
}

fn owner() -> Owner {
    Owner::new(AccountId::new("acc"))
}

/// Requests a page, creates a key, sends a form and a body that is too long, and sends a HEAD request.
fn check(address: &str) {
    let page = TestResponse::to(address, &request("GET", "/settings/keys/new?name=Acme", "", ""));
    assert!(page.status == 200 && page.body.contains("value=\"Acme\""), "{page:?}");
    let post = |path: &str, media_type: &str, body: &str| {
        TestResponse::to(address, &request("POST", path, &format!("Content-Type: {media_type}\n"), body))
    };
    let new = r#"{ "name": "example", "scopes": ["read:courses"], "expiresAt": null }"#;
    let created = post("/settings/api/keys", "application/json", new);
    assert!(created.status == 201 && created.json()["data"]["token"].is_string(), "{created:?}");
    assert_eq!(post("/settings/check", "application/x-www-form-urlencoded", "token=a").status, 403);
    let long = format!(r#"{{ "token": "{}" }}"#, "a".repeat(16 << 10));
    assert_eq!(post("/settings/api/check", "application/json", &long).status, 413);
    let head = TestResponse::to(address, &request("HEAD", "/settings", "", ""));
    assert_eq!((head.status, &*head.body), (200, ""));
    assert_ne!(head.header("content-length"), Some("0"));
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_work_on_warp() {
    let settings = settings().await;
    let owner = warp::any().map(owner);
    let page = warp::path("settings").and(owner).and(catalogue_warp::full_request(16 << 10)).then(
        move |owner: Owner, request: http::Request<Bytes>| {
            let settings = settings.clone();
            async move { settings.call_as(owner, request.map(Full::new)).await }
        },
    );
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(warp::serve(page).incoming(listener).run());
    tokio::task::spawn_blocking(move || check(&address)).await.unwrap();
}

#[actix_web::test]
async fn settings_work_on_actix() {
    let settings = settings().await;
    let app = move || {
        let settings = settings.clone();
        let page = web::to(move |head: HttpRequest, body: Bytes| {
            let settings = settings.clone();
            async move {
                let request = catalogue_actix::request_with(&head, body).map(Full::new);
                catalogue_actix::response(settings.call_as(owner(), request).await)
            }
        });
        App::new().service(web::scope("/settings").default_service(page))
    };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let server = HttpServer::new(app).workers(1).disable_signals().listen(listener).unwrap().run();
    let handle = server.handle();
    actix_web::rt::spawn(server);
    actix_web::rt::task::spawn_blocking(move || check(&address)).await.unwrap();
    handle.stop(false).await;
}
