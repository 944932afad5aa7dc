//! `catalogue openapi`

use crate::program::TestDir;

#[test]
fn prints_every_form_without_a_database() {
    let dir = TestDir::new();
    let base = "https://api.example.com/api/v1";
    let document = dir.run(&format!("openapi --base-url {base}")).json();
    assert_eq!(document["servers"][0]["url"], base);
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    let document = dir.run(&format!("openapi --format json-3.0 --base-url {base}")).json();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.0"));
    assert_eq!(dir.run("openapi --json").succeeds(), dir.run("openapi").succeeds());
    assert_eq!(dir.run("openapi --json --format json-3.0").json()["openapi"], "3.0.3");
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

#[cfg(feature = "oauth")]
#[test]
fn the_issuer_of_signed_tokens_is_named_as_it_is_served() {
    let dir = TestDir::new();
    let plain = dir.run("openapi --format markdown").succeeds();
    let named =
        dir.run("openapi --format markdown --oauth-issuer https://id.example.com --oauth-audience a-b").succeeds();
    let sentence = "Access tokens are signed by `https://id.example.com` for the audience `a-b`. ";
    assert_eq!(named.replace('\n', " ").replacen(sentence, "", 1), plain.replace('\n', " "));
    dir.run("openapi --oauth-audience a").fails(2, &["--oauth-issuer"]);
}

#[test]
fn an_address_that_cannot_be_is_2() {
    let dir = TestDir::new();
    dir.run("openapi --base-url example").fails(2, &["--base-url", "https://api.example.com/api/v1"]);
    dir.run("openapi --format llms --docs-url a?b").fails(2, &["--docs-url"]);
    dir.run("openapi --base-url /docs").fails(2, &["same path"]);
}
