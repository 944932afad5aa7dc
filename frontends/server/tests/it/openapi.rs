//! `catalogue openapi`

use crate::program::Place;

#[test]
fn prints_every_form_without_a_database() {
    let place = Place::new();
    let base = "https://api.example.com/api/v1";
    let document = place.run(&format!("openapi --base-url {base}")).json();
    assert_eq!(document["servers"][0]["url"], base);
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    let document = place.run(&format!("openapi --format json-3.0 --base-url {base}")).json();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.0"));
    assert_eq!(place.run("openapi --json").succeeds(), place.run("openapi").succeeds());
    assert_eq!(place.run("openapi --json --format json-3.0").json()["openapi"], "3.0.3");
    for format in ["markdown", "llms"] {
        let docs = "https://docs.example.com/reference";
        let text = place.run(&format!("openapi --format {format} --base-url {base} --docs-url {docs}")).succeeds();
        assert!(text.starts_with('#') && text.contains(base), "{text}");
    }
    assert!(place.files().is_empty());
}

#[test]
fn an_address_that_cannot_be_is_2() {
    let place = Place::new();
    place.run("openapi --base-url example").fails(2, &["--base-url", "https://api.example.com/api/v1"]);
    place.run("openapi --format llms --docs-url a?b").fails(2, &["--docs-url"]);
    place.run("openapi --base-url /docs").fails(2, &["same path"]);
}
