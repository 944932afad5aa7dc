//! The OpenAPI 3.1 document.

use std::collections::BTreeSet;

use catalogue_core::auth::Scope;
use catalogue_core::storage::Limit;
use catalogue_core::{DocumentFormat, ErrorCode, Operation};
use serde_json::{Value, json};

use crate::{json, operation, resolve, text_at, walk};

fn document() -> Value {
    json(DocumentFormat::OpenApi)
}

#[test]
fn paths_match_the_operations_and_only_have_get() {
    let document = document();
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(document["info"]["version"], "1.0.0");
    let paths = document["paths"].as_object().unwrap();
    for item in paths.values() {
        assert_eq!(item.as_object().unwrap().keys().collect::<Vec<_>>(), ["get"]);
    }
    assert_eq!(paths.len(), Operation::ALL.len());
    for &known in Operation::ALL {
        assert_eq!(operation(&document, known.id()).0, known.path());
    }
}

#[test]
fn references_resolve_and_components_are_used() {
    let document = document();
    let mut used = BTreeSet::new();
    walk(&document, &mut |_, value| {
        resolve(&document, value);
        used.extend(value.get("$ref").and_then(Value::as_str).map(str::to_owned));
    });
    for kind in ["schemas", "responses", "headers"] {
        for name in document["components"][kind].as_object().unwrap().keys() {
            assert!(used.contains(&format!("#/components/{kind}/{name}")), "{kind}/{name} is not used");
        }
    }
}

#[test]
fn schemas_are_not_boolean_and_objects_are_closed() {
    let document = document();
    let schemas = &document["components"]["schemas"];
    walk(schemas, &mut |at, value| {
        let Some(properties) = value.get("properties").filter(|_| value["type"] == "object") else {
            return;
        };
        assert_eq!(value["additionalProperties"], false, "{at} is open");
        assert!(properties.as_object().unwrap().values().all(Value::is_object), "{at} has a boolean schema");
    });
    walk(&document, &mut |at, value| {
        for key in ["schema", "items"] {
            assert!(value.get(key).is_none_or(|schema| !schema.is_boolean()), "{at}/{key} is boolean");
        }
    });
}

/// The tables of section 2, in their order. `?` marks a property that may be null, `none` one with a schema elsewhere.
#[test]
fn properties_match_the_specification() {
    let document = document();
    for (name, properties) in [
        ("Identity", "userId: string, apiKeyId: string, scopes: array"),
        (
            "CourseListItem",
            "slug: string, title: string, language: string, publishedAt: string?, hidden: boolean, moduleCount: integer",
        ),
        (
            "CourseDetail",
            "slug: string, title: string, tagline: string, language: string, publishedAt: string?, hidden: boolean, \
             accessMode: string?, modules: array",
        ),
        ("Module", "number: integer, title: string, summary: string"),
        ("PaginationMeta", "nextCursor: string?"),
        ("ErrorEnvelope", "error: none"),
        ("ErrorBody", "code: none, message: string"),
    ] {
        let schema = &document["components"]["schemas"][name];
        let properties: Vec<_> = properties.split(", ").map(|property| property.split_once(": ").unwrap()).collect();
        let names: Vec<_> = properties.iter().map(|(name, _)| *name).collect();
        assert_eq!(schema["required"], json!(names), "{name}");
        for (property, kind) in properties {
            let kind = match kind.strip_suffix('?') {
                Some(kind) => json!([kind, "null"]),
                None if kind == "none" => Value::Null,
                None => json!(kind),
            };
            assert_eq!(schema["properties"][property]["type"], kind, "{name}.{property}");
        }
        let optional = usize::from(name == "ErrorBody");
        assert_eq!(schema["properties"].as_object().unwrap().len(), names.len() + optional, "{name}");
    }
    let details = &document["components"]["schemas"]["ErrorBody"]["properties"]["details"];
    assert!(details.is_object() && details.get("type").is_none(), "details must allow any JSON: {details}");
    walk(&document["components"]["schemas"], &mut |at, value| {
        assert!(value.get("content").is_none(), "{at} has a module's body");
    });
}

#[test]
fn only_failures_use_the_error_envelope() {
    let document = document();
    let codes: Vec<_> = ErrorCode::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(document["components"]["schemas"]["ErrorCode"]["enum"], json!(codes));
    for (path, item) in document["paths"].as_object().unwrap() {
        for (status, response) in item["get"]["responses"].as_object().unwrap() {
            let schema = &resolve(&document, response)["content"]["application/json"]["schema"];
            let is_envelope = schema["$ref"] == "#/components/schemas/ErrorEnvelope";
            assert_eq!(is_envelope, status.as_str() >= "400", "{path} {status}");
        }
    }
}

#[test]
fn parameter_bounds_match_the_code() {
    let document = document();
    let parameters = operation(&document, "listCourses").1["parameters"].as_array().unwrap();
    let names: Vec<_> = parameters.iter().map(|parameter| &parameter["name"]).collect();
    assert_eq!(names, ["cursor", "limit"]);
    let (cursor, limit) = (&parameters[0], &parameters[1]);
    let [minimum, maximum, default] = [Limit::MIN, Limit::MAX, Limit::DEFAULT].map(Limit::get);
    let bounds = json!({ "type": "integer", "minimum": minimum, "maximum": maximum, "default": default });
    assert_eq!(limit["schema"], bounds);
    assert_eq!((&cursor["required"], &limit["required"]), (&json!(false), &json!(false)));
    assert_eq!(cursor["schema"]["maxLength"], 512);
    assert_eq!(cursor["schema"]["pattern"], "^[A-Za-z0-9_-]+$");
    let slug = &operation(&document, "getCourse").1["parameters"][0];
    assert_eq!((&slug["in"], &slug["required"]), (&json!("path"), &json!(true)));
    assert_eq!(slug["schema"]["maxLength"], catalogue_core::MAX_SLUG_BYTES);
    assert!(operation(&document, "getMe").1.get("parameters").is_none());
}

#[test]
fn each_operation_states_its_scope() {
    let document = document();
    let scheme = &document["components"]["securitySchemes"]["bearer"];
    assert_eq!((&scheme["type"], &scheme["scheme"]), (&json!("http"), &json!("bearer")));
    for (scope, _) in Scope::DEFINED {
        assert!(scheme["description"].as_str().unwrap().contains(scope.name()));
    }
    for known in Operation::ALL {
        let operation = operation(&document, known.id()).1;
        assert_eq!(operation["security"], json!([{ "bearer": [] }]), "{known:?}");
        let (scopes, description) = (&operation["x-required-scopes"], operation["description"].as_str().unwrap());
        let named = scopes.as_array().unwrap().iter().all(|scope| description.contains(scope.as_str().unwrap()));
        assert!(named && description.contains("Scope required: "), "{description}");
    }
}

#[test]
fn server_url_is_the_base_url() {
    for (base, server) in [
        ("/api/v1", "/api/v1"),
        ("/", "/"),
        ("https://api.example.com/api/v1", "https://api.example.com/api/v1"),
        ("https://api.example.com/api/v1/", "https://api.example.com/api/v1"),
    ] {
        for format in [DocumentFormat::OpenApi, DocumentFormat::OpenApi30] {
            let document: Value = serde_json::from_str(&text_at(format, base, "/docs")).unwrap();
            assert_eq!(document["servers"][0]["url"], server, "{base}");
        }
    }
}

/// Members that linters require.
#[test]
fn license_and_tags_are_complete() {
    let document = document();
    let info = &document["info"];
    assert_eq!(info["license"]["name"], "MIT OR Apache-2.0");
    assert!(info["license"]["url"].is_string() && info["license"].get("identifier").is_none(), "not both");
    let tags = document["tags"].as_array().unwrap();
    assert!(tags.is_sorted_by_key(|tag| tag["name"].as_str()));
    assert!(tags.iter().all(|tag| tag["description"].is_string()));
    for item in document["paths"].as_object().unwrap().values() {
        assert!(tags.iter().any(|tag| tag["name"] == item["get"]["tags"][0]));
    }
}
