//! Options for an issuer and for token introspection.

use crate::program::TestDir;

#[test]
fn invalid_options_exit_2_with_hint() {
    let dir = TestDir::new();
    for (name, content) in [("secret", "hunter2"), ("empty", "\n")] {
        dir.write(name, content);
        dir.set_mode(name, 0o600);
    }
    let files = dir.files();
    let issuer = "--oauth-issuer https://id.example.com --oauth-audience a";
    let all =
        format!("{issuer} --oauth-introspection https://a/i --oauth-client-id c --oauth-client-secret file:secret");
    let changed = |from: &str, to: &str| all.replace(from, to);
    let introspection = "--oauth-introspection URL, --oauth-client-id ID and --oauth-client-secret file:PATH";
    for (options, pieces) in [
        ("--oauth-audience a --oauth-keys file:k", ["--oauth-audience and --oauth-keys: ", "--oauth-issuer https://"]),
        ("--oauth-token-type any", ["--oauth-token-type: ", "--oauth-issuer https://"]),
        ("--oauth-introspection-cache 10s", ["--oauth-introspection-cache: ", "--oauth-issuer https://"]),
        (&changed(issuer, ""), ["--oauth-client-secret", "--oauth-issuer https://"]),
        ("--oauth-issuer https://id.example.com", ["--oauth-issuer: ", "--oauth-audience"]),
        ("--oauth-issuer http://id.example.com --oauth-audience a", ["--oauth-issuer: ", "https://HOST"]),
        ("--oauth-issuer id.example.com", ["--oauth-issuer: ", "https://HOST"]),
        ("--oauth-issuer a.example --oauth-audience a", ["--oauth-issuer: ", "another form needs --oauth-keys"]),
        ("--oauth-issuer= --oauth-audience a --oauth-keys file:k", ["--oauth-issuer: ", "empty"]),
        ("--oauth-issuer https://u:hunter2@a --oauth-audience a", ["--oauth-issuer: ", "it contains a user name"]),
        (&format!("{issuer} --oauth-algorithms HS256"), ["--oauth-algorithms: ", "ES256 or ES384"]),
        (&format!("{issuer} --oauth-token-type jwt"), ["--oauth-token-type: ", "at+jwt or any"]),
        (&format!("{issuer} --oauth-keys http://b/k"), ["--oauth-keys: ", "https://HOST"]),
        (&format!("{issuer} --oauth-introspection https://a/i"), ["--oauth-introspection: ", introspection]),
        (&changed("--oauth-introspection https://a/i", ""), ["--oauth-client-id and ", introspection]),
        (&format!("{issuer} --oauth-introspection-cache 10s"), ["--oauth-introspection-cache: ", introspection]),
        (&format!("{all} --oauth-introspection-cache 61s"), ["--oauth-introspection-cache: ", "from 0s to 60s"]),
        (
            &changed("https://a/i", "http://a/i"),
            ["--oauth-introspection: ", "use https://HOST/PATH, or http on this machine"],
        ),
        (&changed("//a/i", "//u:hunter2@a/i"), ["--oauth-introspection: ", "it contains a user name"]),
        (&changed("file:secret", "hunter2"), ["--oauth-client-secret: ", "use file:PATH"]),
        (&changed("file:secret", "file:empty"), ["--oauth-client-secret: ", "is empty"]),
        (&changed("--oauth-client-id c", "--oauth-client-id="), ["--oauth-client-id: ", "empty"]),
    ] {
        for command in ["serve", "config check"] {
            let outcome = dir.run(&format!("{command} {options}"));
            assert!(!outcome.err.contains("hunter2"), "{outcome:?}");
            outcome.fails(2, &pieces);
        }
    }
    assert_eq!(dir.files(), files, "invalid options create no file");
    let displayed = dir.run(&format!("config check {all}")).succeeds();
    assert!(displayed.contains("https://a/i") && !displayed.contains("hunter2"), "{displayed}");
    for (name, value) in [("oauth-client-secret ", "…"), ("oauth-account-claim ", " sub ")] {
        let line = displayed.lines().find(|line| line.starts_with(name)).unwrap();
        assert!(line.contains(value), "{line}");
    }
}
