//! Compares the schema of a line with its reader.

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
fn whole(kind: &str) -> Value {
    match kind {
        "account" => json!({ "type": "account", "id": "a", "name": "A", "email": "a@example.org" }),
        _ => json!({
            "type": "course", "account": "a", "slug": "s", "title": "T", "tagline": "t", "language": "en",
            "createdAt": "2020-01-01T00:00:00Z", "publishedAt": "2020-01-01T01:00:00.123+01:00", "hidden": true,
            "accessMode": "free", "modules": [{ "title": "M", "summary": "s", "content": "c" }],
        }),
    }
}

/// Asserts that the schema and the reader either both accept the line, or both refuse it. Returns whether they accept it.
fn agree(validator: &Validator, line: &Value) -> bool {
    let (by_schema, read) = (validator.is_valid(line), parse(line.to_string().as_bytes()));
    assert_eq!(by_schema, read.is_ok(), "{line}: {read:?}");
    by_schema
}

#[test]
fn schema_and_reader_agree_on_every_field() {
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
        let line = whole(kind);
        assert!(agree(&validator, &line));
        for field in line.as_object().unwrap().keys() {
            let mut without = line.clone();
            without.as_object_mut().unwrap().remove(field);
            let mut verdicts = vec![agree(&validator, &without)];
            for value in &values {
                let mut changed = line.clone();
                changed[field] = value.clone();
                verdicts.push(agree(&validator, &changed));
            }
            assert!(verdicts.contains(&false), "{field}");
        }
        let mut more = line.clone();
        more["titel"] = json!("");
        assert!(!agree(&validator, &more));
    }
    for field in ["title", "summary", "content"] {
        for value in &values {
            let mut line = whole("course");
            line["modules"][0][field] = value.clone();
            agree(&validator, &line);
        }
    }
    for line in [json!(null), json!("account"), json!([]), json!({}), json!({ "type": "module", "title": "M" })] {
        assert!(!agree(&validator, &line));
    }
}

/// A schema cannot count bytes, as its descriptions say.
#[test]
fn the_reader_alone_counts_bytes() {
    let mut line = whole("course");
    line["slug"] = json!("ü".repeat(101));
    assert!(validator().is_valid(&line));
    assert!(parse(line.to_string().as_bytes()).is_err());
}
