//! Compares the schema of a line with the parser, for valid and invalid values of each field.

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::SCHEMA;
use crate::line::parse;

fn validator() -> Validator {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    assert!(jsonschema::draft202012::meta::is_valid(&schema), "{schema}");
    jsonschema::draft202012::options().should_validate_formats(true).build(&schema).unwrap()
}

/// Returns a line with every field.
fn line_with_every_field(kind: &str) -> Value {
    match kind {
        "account" => json!({ "type": "account", "id": "a", "name": "A", "email": "a@example.org" }),
        _ => json!({
            "type": "course", "account": "a", "slug": "s", "title": "T", "tagline": "t", "language": "en",
            "createdAt": "2020-01-01T00:00:00Z", "publishedAt": "2020-01-01T01:00:00.123+01:00", "hidden": true,
            "accessMode": "free", "modules": [{ "title": "M", "summary": "s", "content": "c" }],
        }),
    }
}

/// Asserts that the schema and the parser either both accept the line, or both refuse it. Returns whether they accept it.
fn is_accepted(validator: &Validator, line: &Value) -> bool {
    let (by_schema, parsed) = (validator.is_valid(line), parse(line.to_string().as_bytes()));
    assert_eq!(by_schema, parsed.is_ok(), "{line}: {parsed:?}");
    by_schema
}

#[test]
fn schema_and_parser_agree_on_every_field() {
    let validator = validator();
    let long = ["x".repeat(200), "x".repeat(201)];
    let mut texts = vec!["", "a", "a/b", "\u{0}", "a\nb", "\u{7f}", "\u{9f}", "ü", ".", &long[0], &long[1]];
    texts.extend([
        "2020-02-29t23:59:59.1234567-00:30",
        "2020-01-01T00:00:00",
        "2020-01-01 00:00:00Z",
        "2021-02-29T00:00:00Z",
    ]);
    let others =
        [json!(null), json!(true), json!(1), json!([]), json!({}), json!(["a"]), json!([{}]), json!([{ "title": 1 }])];
    let values: Vec<Value> = texts.into_iter().map(Value::from).chain(others).collect();
    for kind in ["account", "course"] {
        let line = line_with_every_field(kind);
        assert!(is_accepted(&validator, &line));
        for field in line.as_object().unwrap().keys() {
            let mut without = line.clone();
            without.as_object_mut().unwrap().remove(field);
            let mut verdicts = vec![is_accepted(&validator, &without)];
            for value in &values {
                let mut changed = line.clone();
                changed[field] = value.clone();
                verdicts.push(is_accepted(&validator, &changed));
            }
            assert!(verdicts.contains(&false), "{field}");
        }
        let mut with_unknown_field = line.clone();
        with_unknown_field["titel"] = json!("");
        assert!(!is_accepted(&validator, &with_unknown_field));
    }
    for field in ["title", "summary", "content"] {
        for value in &values {
            let mut line = line_with_every_field("course");
            line["modules"][0][field] = value.clone();
            is_accepted(&validator, &line);
        }
    }
    for line in [json!(null), json!("account"), json!([]), json!({}), json!({ "type": "module", "title": "M" })] {
        assert!(!is_accepted(&validator, &line));
    }
}

/// A schema counts characters, although the limits in its descriptions are in bytes.
#[test]
fn only_parser_counts_bytes() {
    let mut line = line_with_every_field("course");
    line["slug"] = json!("ü".repeat(101));
    assert!(validator().is_valid(&line));
    assert!(parse(line.to_string().as_bytes()).is_err());
}
