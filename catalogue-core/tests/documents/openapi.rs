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
    for kind in ["schemas", "parameters", "responses", "headers"] {
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
    walk(&document["components"]["schemas"], &mut |at, value| {
        assert!(value.get("content").is_none(), "{at} has a module's body");
    });
}

/// The details of each failure in the examples have exactly one closed schema; the last branch is open.
#[test]
fn details_are_described_by_code() {
    let document = document();
    let mut branches: Vec<&Value> = document["components"]["schemas"]["ErrorBody"]["properties"]["details"]["anyOf"]
        .as_array()
        .unwrap()
        .iter()
        .collect();
    let names: Vec<_> =
        branches.iter().map(|branch| branch["$ref"].as_str().unwrap().rsplit_once('/').unwrap().1).collect();
    assert_eq!(
        names.join(" "),
        "OutOfRangeDetails InsufficientScopeDetails InvalidRequestDetails UnauthorizedDetails UnsupportedCredentialDetails \
         RateLimitedDetails InternalErrorDetails OtherDetails"
    );
    let other = resolve(&document, branches.pop().unwrap());
    assert_eq!((&other["type"], &other["additionalProperties"]), (&json!("object"), &json!(true)));
    let schemas: Vec<_> = branches.into_iter().map(|branch| resolve(&document, branch)).collect();
    let fits = |schema: &Value, details: &Value| {
        let object = details.as_object().unwrap();
        object.keys().eq(schema["required"].as_array().unwrap())
            && object.iter().all(|(name, value)| {
                let words = schema["properties"][name]["enum"].as_array();
                words.is_none_or(|words| words.contains(value))
            })
    };
    let mut described = 0;
    walk(&document["components"]["responses"], &mut |at, value| {
        if let Some(details) = value.get("details") {
            let fitting = schemas.iter().filter(|schema| fits(schema, details)).count();
            assert_eq!(fitting, 1, "{at}: {details}");
            described += 1;
        }
    });
    assert!(described > 10, "{described}");
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
    let names: Vec<_> = parameters.iter().map(|parameter| &resolve(&document, parameter)["name"]).collect();
    assert_eq!(names, ["cursor", "limit", "If-None-Match"]);
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
    for known in Operation::ALL {
        let operation = operation(&document, known.id()).1;
        let header = resolve(&document, operation["parameters"].as_array().unwrap().last().unwrap());
        assert_eq!((&header["name"], &header["in"]), (&json!("If-None-Match"), &json!("header")), "{known:?}");
        assert!(operation["responses"]["304"].is_object() && header["required"] == false, "{known:?}");
    }
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
