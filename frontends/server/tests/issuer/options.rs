//! Options for an issuer.

use crate::program::TestDir;

const ISSUER: &str = "--oauth-issuer https://id.example.com";

#[test]
fn invalid_options_exit_2_with_hint() {
    let dir = TestDir::new();
    for (options, pieces) in [
        ("--oauth-audience a --oauth-keys file:k", ["--oauth-audience and --oauth-keys: ", "--oauth-issuer https://"]),
        ("--oauth-token-type any", ["--oauth-token-type: ", "--oauth-issuer https://"]),
        (ISSUER, ["--oauth-issuer: ", "--oauth-audience"]),
        ("--oauth-issuer http://id.example.com --oauth-audience a", ["--oauth-issuer: ", "https://HOST"]),
        ("--oauth-issuer id.example.com", ["--oauth-issuer: ", "https://HOST"]),
        (
            "--oauth-issuer accounts.google.com --oauth-audience a",
            ["--oauth-issuer: ", "another form needs --oauth-keys"],
        ),
        ("--oauth-issuer= --oauth-audience a --oauth-keys file:k", ["--oauth-issuer: ", "empty"]),
        ("--oauth-issuer https://u:hunter2@a --oauth-audience a", ["--oauth-issuer: ", "it contains a user name"]),
        (
            "--oauth-issuer https://a --oauth-audience a --oauth-algorithms HS256",
            ["--oauth-algorithms: ", "ES256 or ES384"],
        ),
        (
            "--oauth-issuer https://a --oauth-audience a --oauth-token-type jwt",
            ["--oauth-token-type: ", "at+jwt or any"],
        ),
        ("--oauth-issuer https://a --oauth-audience a --oauth-keys http://b/k", ["--oauth-keys: ", "https://HOST"]),
    ] {
        for command in ["serve", "config check"] {
            let outcome = dir.run(&format!("{command} {options}"));
            assert!(!outcome.err.contains("hunter2"), "{outcome:?}");
            outcome.fails(2, &pieces);
        }
    }
    assert!(dir.files().is_empty(), "invalid options create no file");
}

#[test]
fn options_are_read_from_file_and_environment() {
    let dir = TestDir::new();
    dir.write(
        "c.toml",
        "oauth-issuer = 'https://id.example.com'\noauth-audience = 'a'\noauth-algorithms = ['ES256']\n",
    );
    let checked =
        dir.run_in(&[("CATALOGUE_OAUTH_SCOPE_PREFIX", "catalogue:")], "config check --config c.toml").succeeds();
    for (name, value) in [
        ("oauth-issuer", "https://id.example.com"),
        ("oauth-audience", "a"),
        ("oauth-algorithms", "ES256"),
        ("oauth-scope-prefix", "catalogue:"),
        ("oauth-account-claim", "sub"),
    ] {
        let displayed = |line: &str| line.starts_with(&format!("{name} ")) && line.contains(&format!(" {value} "));
        assert!(checked.lines().any(displayed), "{name}: {checked}");
    }
}
