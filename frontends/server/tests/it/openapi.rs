//! `catalogue openapi`

use serde_json::Value;

use crate::program::TestDir;

#[test]
fn all_formats_are_printed_without_database() {
    let dir = TestDir::new();
    let base = "https://api.example.com/api/v1";
    let document = dir.run(&format!("openapi --base-url {base}")).json();
    assert_eq!(document["servers"][0]["url"], base);
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    let document = dir.run(&format!("openapi --format json-3.0 --base-url {base}")).json();
    assert_eq!(document["openapi"], "3.0.3");
    for format in ["markdown", "llms"] {
        let docs = "https://docs.example.com/reference";
        let text = dir.run(&format!("openapi --format {format} --base-url {base} --docs-url {docs}")).succeeds();
        assert!(text.starts_with('#') && text.contains(base), "{text}");
    }
    let about = "--docs-title Mine --docs-contact https://example.com/help --docs-keys-url https://example.com/keys";
    for format in ["json", "json-3.0", "markdown", "llms"] {
        let text = dir.run(&format!("openapi --format {format} {about}")).succeeds();
        for piece in ["Mine", "https://example.com/help", "https://example.com/keys"] {
            assert!(text.contains(piece), "{format} {piece}");
        }
    }
    assert!(dir.files().is_empty());
}

/// Tools such as Swagger UI send every example, even of optional parameters.
#[test]
fn server_accepts_example_values_of_all_parameters() {
    let dir = TestDir::new();
    dir.import(include_str!("../../demo/courses.jsonl"));
    let scopes = "--scope read:courses --scope read:profile";
    let token = dir.run(&format!("keys create --account acc_demo --name n {scopes}")).succeeds();
    let server = dir.serve("");
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    for format in ["json", "json-3.0"] {
        let document = dir.run(&format!("openapi --format {format}")).json();
        for (path, operations) in document["paths"].as_object().unwrap() {
            let (mut path, mut query) = (path.clone(), String::new());
            for parameter in operations["get"]["parameters"].as_array().into_iter().flatten() {
                let (name, example) = (text(&parameter["name"]), &parameter["example"]);
                let example = if example.is_null() { &parameter["schema"]["example"] } else { example };
                match (text(&parameter["in"]).as_str(), example) {
                    ("path", example) => path = path.replace(&format!("{{{name}}}"), &text(example)),
                    (_, Value::Null) => {}
                    (_, example) => query += &format!("{name}={}&", text(example)),
                }
            }
            assert!(!path.contains('{'), "{path}: a required parameter has no example");
            let target = format!("/api/v1{path}?{query}");
            assert_eq!(server.get(&target, token.trim_end()).0, 200, "{format}: {target}");
        }
    }
}

#[cfg(feature = "oauth")]
#[test]
fn issuer_of_signed_tokens_is_documented() {
    let dir = TestDir::new();
    let plain = dir.run("openapi --format markdown").succeeds();
    let named =
        dir.run("openapi --format markdown --oauth-issuer https://id.example.com --oauth-audience a-b").succeeds();
    let sentence = "Access tokens are signed by `https://id.example.com` for the audience `a-b`. ";
    assert_eq!(named.replace('\n', " ").replacen(sentence, "", 1), plain.replace('\n', " "));
    dir.run("openapi --oauth-audience a").fails(2, &["--oauth-issuer"]);
}
