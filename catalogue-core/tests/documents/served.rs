//! The served documents, and real responses that are checked against them.

use bytes::Bytes;
use catalogue_core::admin::AdminStorage;
use catalogue_core::auth::{Identity, Scopes};
use catalogue_core::storage::MemoryStorage;
use catalogue_core::{AccountId, Catalogue, Course, CourseModule, DocumentFormat, Timestamp};
use catalogue_storage_conformance::sample;
use http::{Request, Response};
use serde_json::Value;

use crate::{BASE, DOCS, json, operation, resolve, schema, text};

fn identity(scopes: &str) -> Identity {
    Identity::api_key(AccountId::new("acc"), "key_1", Scopes::from_names([scopes]))
}

/// Returns a catalogue with three courses: one is published with a module, the others lack all optional values.
async fn catalogue() -> Catalogue {
    let storage = MemoryStorage::new();
    let mut import = storage.begin_import().await.unwrap();
    import.put_account(&sample::account("acc")).await.unwrap();
    for number in 0..3 {
        let module = CourseModule { content: "secret".into(), ..sample::module("t") };
        let published = (number == 0).then(|| Timestamp::from_microseconds(1).unwrap());
        let course = Course {
            created_at: Timestamp::from_microseconds(number).unwrap(),
            published_at: published,
            hidden: number == 1,
            access_mode: published.map(|_| "free".to_owned()),
            modules: if number == 0 { vec![module] } else { Vec::new() },
            ..sample::course("acc", &format!("course-{number}"))
        };
        import.put_course(&course).await.unwrap();
    }
    import.commit().await.unwrap();
    Catalogue::with_api_keys(storage).base_url(BASE).docs_url(DOCS).build().unwrap()
}

fn request(target: &str) -> Request<()> {
    Request::get(target).body(()).unwrap()
}

async fn call_as(catalogue: &Catalogue, scopes: &str, target: &str) -> Response<Bytes> {
    catalogue.call_as(identity(scopes), request(target)).await
}

#[tokio::test]
async fn served_and_generated_documents_are_equal() {
    let catalogue = catalogue().await;
    let public = catalogue.call(request("/docs/openapi.json")).await;
    let private = call_as(&catalogue, "", "/api/v1/openapi.json").await;
    assert_eq!(public.body(), private.body());
    assert_eq!(public.body(), text(DocumentFormat::OpenApi).as_bytes());
    for (path, format) in [("/docs/openapi.md", DocumentFormat::Markdown), ("/docs/llms.txt", DocumentFormat::Llms)] {
        assert_eq!(catalogue.call(request(path)).await.body(), text(format).as_bytes(), "{path}");
    }
}

/// Checks the status, headers and body of each response.
#[tokio::test]
async fn real_responses_match_the_document() {
    let catalogue = catalogue().await;
    let document = json(DocumentFormat::OpenApi);
    for (id, scopes, target) in [
        ("getMe", "", "/api/v1/me"),
        ("getMe", "read:profile read:courses other", "/api/v1/me"),
        ("listCourses", "read:courses", "/api/v1/courses"),
        ("listCourses", "read:courses", "/api/v1/courses?limit=1"),
        ("listCourses", "read:courses", "/api/v1/courses?limit=0"),
        ("listCourses", "read:courses", "/api/v1/courses?limit=x"),
        ("listCourses", "read:courses", "/api/v1/courses?cursor=x"),
        ("listCourses", "read:profile", "/api/v1/courses"),
        ("getCourse", "read:courses", "/api/v1/courses/course-0"),
        ("getCourse", "read:courses", "/api/v1/courses/course-1"),
        ("getCourse", "read:courses", "/api/v1/courses/none"),
        ("getCourse", "", "/api/v1/courses/course-0"),
        ("getOpenApi", "", "/api/v1/openapi.json"),
    ] {
        assert_fits(&document, id, target, &call_as(&catalogue, scopes, target).await);
        let bare = catalogue.call(request(target)).await;
        assert_eq!(bare.status(), 401);
        assert_fits(&document, id, target, &bare);
    }
    let mut again = request("/api/v1/me");
    again.headers_mut().insert("if-none-match", "*".parse().unwrap());
    assert_fits(&document, "getMe", "304", &catalogue.call_as(identity(""), again).await);
}

fn assert_fits(document: &Value, id: &str, target: &str, response: &Response<Bytes>) {
    let status = response.status();
    let described = &operation(document, id).1["responses"][status.as_str()];
    assert!(described.is_object(), "{target}: {status} is not described");
    let described = resolve(document, described);
    for (name, header) in described["headers"].as_object().unwrap() {
        let required = resolve(document, header)["required"] == true;
        assert!(!required || response.headers().contains_key(name), "{target}: {status} has no {name}");
    }
    for name in ["etag", "link", "vary", "www-authenticate", "retry-after", "ratelimit", "x-request-id"] {
        let mut names = described["headers"].as_object().unwrap().keys();
        let known = names.any(|known| known.eq_ignore_ascii_case(name));
        assert!(
            known || !response.headers().contains_key(name),
            "{target}: {status} has {name}, which is not described"
        );
    }
    match described["content"].get("application/json") {
        None => assert!(response.body().is_empty(), "{target}: {status} has a body"),
        Some(content) => {
            let body: Value = serde_json::from_slice(response.body()).unwrap();
            let violations = schema::violations(document, &content["schema"], &body);
            assert!(violations.is_empty(), "{target}: {status}: {violations:?}");
        }
    }
}
