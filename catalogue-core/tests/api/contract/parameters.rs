//! Parameters and scopes of the document, compared with the accepted ones.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::document::{DOCUMENT, Operation, Parameter};
use crate::app::{BASE, OTHER, OWNER, TestApp, course};

fn operation(id: &str) -> &'static Operation {
    DOCUMENT.operations.iter().find(|operation| operation.id == id).unwrap()
}

fn parameter(id: &str, name: &str) -> &'static Parameter {
    &operation(id).parameters[name]
}

fn bound(parameter: &Parameter, word: &str) -> usize {
    parameter.bounds[word].as_u64().unwrap().try_into().unwrap()
}

#[tokio::test]
async fn cursors_match_schema_and_others_are_refused() {
    let cursor = parameter("listCourses", "cursor");
    let app = TestApp::new().await;
    app.put(["🤗".repeat(50), "z".repeat(200), "a".to_owned()].iter().map(|slug| course(slug, 0))).await;
    for account in [OWNER, OTHER] {
        let token = app.key(account, "read:courses").await;
        let mut target = format!("{BASE}/courses?limit=1");
        while let Value::String(next) = app.get(&token, &target).await.json()["meta"]["nextCursor"].take() {
            assert!(cursor.schema.is_valid(&json!(next)), "{next}");
            target = format!("{BASE}/courses?limit=1&cursor={next}");
        }
    }
    let token = app.key(OWNER, "read:courses").await;
    for bad in ["", "a.b", "a%20b", &"A".repeat(bound(cursor, "maxLength") + 1)] {
        assert!(!cursor.schema.is_valid(&json!(bad)), "{bad}");
        app.get(&token, &format!("{BASE}/courses?cursor={bad}")).await.failure(400, "invalid_request");
    }
}

#[tokio::test]
async fn slugs_match_their_schema() {
    let slug = parameter("getCourse", "slug");
    let longest = "s".repeat(bound(slug, "maxLength"));
    let (app, token) = TestApp::with_courses([course(&longest, 0), course("🤗", 0)]).await;
    for (segment, known) in [(&*longest, &*longest), ("%F0%9F%A4%97", "🤗")] {
        assert!(slug.schema.is_valid(&json!(known)), "{known}");
        assert_eq!(app.get(&token, &format!("{BASE}/courses/{segment}")).await.data()["slug"], known);
    }
    assert!(!slug.schema.is_valid(&json!(longest + "s")) && !slug.schema.is_valid(&json!("")));
}

#[tokio::test]
async fn described_parameters_are_named_in_failures() {
    let named = super::scenarios::exchanges().await.into_iter().filter_map(|exchange| {
        let body: Value = serde_json::from_slice(&exchange.response.body).ok()?;
        let name = body.pointer("/error/details/parameter")?.as_str()?.to_owned();
        Some((exchange.operation.id.clone(), name))
    });
    let described = DOCUMENT.operations.iter().flat_map(|operation| {
        // A path parameter without a match causes a 404, which names no parameter. The header is never invalid.
        let in_query = operation.parameters.keys().filter(|name| !operation.path.contains(&format!("{{{name}}}")));
        let in_query = in_query.filter(|name| *name != "If-None-Match");
        in_query.map(|name| (operation.id.clone(), name.clone()))
    });
    assert_eq!(named.collect::<BTreeSet<_>>(), described.collect());
}

#[tokio::test]
async fn scopes_are_sufficient_and_necessary() {
    let app = TestApp::new().await;
    app.put([course("c", 0)]).await;
    for operation in &DOCUMENT.operations {
        let target = format!("{BASE}{}", operation.path.replace("{slug}", "c"));
        let enough = app.key(OWNER, &operation.scopes.join(" ")).await;
        assert_eq!(app.get(&enough, &target).await.status, 200, "{}", operation.id);
        for missing in &operation.scopes {
            let others = ["read:profile", "read:courses", "other"].into_iter().filter(|scope| scope != missing);
            let token = app.key(OWNER, &others.collect::<Vec<_>>().join(" ")).await;
            let details = app.get(&token, &target).await.failure(403, "insufficient_scope");
            assert_eq!(details["required"], json!(operation.scopes), "{}", operation.id);
        }
    }
}
