//! Encodings of text input: UTF-8, with or without a byte order mark, and UTF-16.

use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::program::{COURSES, Outcome, TestDir};

/// Returns `text` in each accepted encoding except plain UTF-8, with the name of the encoding.
fn encodings(text: &str) -> [(&'static str, Vec<u8>); 5] {
    let marked = format!("\u{feff}{text}");
    let [little, big] = [u16::to_le_bytes, u16::to_be_bytes];
    [
        ("UTF-8 with a mark", marked.clone().into_bytes()),
        ("UTF-16LE with a mark", marked.encode_utf16().flat_map(little).collect()),
        ("UTF-16BE with a mark", marked.encode_utf16().flat_map(big).collect()),
        ("UTF-16LE", text.encode_utf16().flat_map(little).collect()),
        ("UTF-16BE", text.encode_utf16().flat_map(big).collect()),
    ]
}

/// Returns a token of `https://id.example.com` for the account `a`, with the key ID `k` and an invalid signature.
fn signed_token() -> String {
    let claims = r#"{"iss":"https://id.example.com","aud":"a","sub":"a","client_id":"c","jti":"x","exp":9999999999}"#;
    let parts = [r#"{"typ":"at+jwt","alg":"ES256","kid":"k"}"#, claims, "not a signature"];
    parts.map(|part| URL_SAFE_NO_PAD.encode(part)).join(".")
}

/// Asserts that each encoding of `text` has the outcome of plain UTF-8, and that its output contains `piece`.
fn assert_same_outcome(text: &str, piece: &str, run: impl Fn(&[u8]) -> Outcome) {
    run(text.as_bytes());
    // Compares with a second run: the first run of `keys revoke` or `keys rotate` has another outcome.
    let plain = run(text.as_bytes());
    assert!(plain.out.contains(piece) || plain.err.contains(piece), "{piece}: {plain:?}");
    for (encoding, bytes) in encodings(text) {
        let outcome = run(&bytes);
        assert_eq!(
            (outcome.status, outcome.out, outcome.err),
            (plain.status, plain.out.clone(), plain.err.clone()),
            "{encoding}"
        );
    }
}

#[test]
fn standard_input_is_read_in_each_encoding() {
    let dir = TestDir::with_courses();
    let [found, revoked, rotated] = [(); 3].map(|()| dir.key("a").1);
    let text = format!("# \u{e9}\u{1f917}\r\ncurl -H \"Authorization: Bearer {found}\" https://api.example.com\r\n");
    for (arguments, text, piece) in [
        ("keys check", format!("{found}\n{found}"), "2: valid api-key"),
        ("keys find -", found.clone(), "state            valid"),
        ("keys find --in-text -", text, "valid"),
        ("keys revoke --token -", revoked, "was already revoked"),
        ("keys rotate --token -", rotated, "already has the successor"),
        #[cfg(feature = "oauth")]
        ("tokens revoke --account a", signed_token(), "is revoked"),
        #[cfg(feature = "oauth")]
        (
            "tokens check --oauth-issuer https://id.example.com --oauth-audience a --oauth-keys file:none.json",
            signed_token(),
            "none.json",
        ),
    ] {
        assert_same_outcome(&text, piece, |bytes| dir.run_reading(bytes, arguments));
    }
    assert_same_outcome(COURSES, "Zwei", |bytes| {
        let dir = TestDir::new();
        dir.run_reading(bytes, "import -").succeeds();
        dir.run("export")
    });
}

#[test]
fn files_are_read_in_each_encoding() {
    let dir = TestDir::with_courses();
    let certificate = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (chain, key) = (certificate.cert.pem(), certificate.signing_key.serialize_pem());
    dir.write("chain.pem", &chain);
    dir.write("key.pem", &key);
    let twice = format!("{chain}{chain}");
    let postgres = "export --database postgres://u@127.0.0.1:1/n?sslmode=verify-full";
    for (text, arguments, piece) in [
        ("database = 'sqlite:\u{e9}.db'\n", "accounts list --config f", "\u{e9}.db"),
        ("sqlite:\u{e9}.db\n", "accounts list --log error --database file:f", "\u{e9}.db"),
        (&chain, &format!("{postgres}&sslrootcert=f"), "refused"),
        (&twice, &format!("{postgres}&sslrootcert=chain.pem&sslcert=f&sslkey=key.pem"), "refused"),
        (&key, &format!("{postgres}&sslrootcert=chain.pem&sslcert=chain.pem&sslkey=f"), "refused"),
        #[cfg(feature = "oauth")]
        (
            // The key of RFC 7517, appendix A.1.
            r#"{"keys":[{"kty":"EC","crv":"P-256","kid":"k","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
            "y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"}]}"#,
            "tokens check --oauth-issuer https://id.example.com --oauth-audience a --oauth-keys file:f",
            "1 usable, just fetched",
        ),
    ] {
        assert_same_outcome(text, piece, |bytes| {
            dir.write("f", bytes);
            dir.run_reading(signed_token(), arguments)
        });
    }
    for (text, arguments) in
        [(&chain, "doctor --tls-cert f --tls-key key.pem"), (&key, "doctor --tls-cert chain.pem --tls-key f")]
    {
        assert_same_outcome(text, "ok       certificate  expires on ", |bytes| {
            dir.write("f", bytes);
            let mut outcome = dir.run(arguments);
            outcome.out = outcome.out.lines().filter(|line| line.contains(" certificate ")).collect();
            outcome
        });
    }
    assert_same_outcome(COURSES, "Zwei", |bytes| {
        let dir = TestDir::new();
        dir.write("f", bytes);
        dir.run("import f").succeeds();
        dir.run("export")
    });
    fs::remove_file(dir.path("f")).unwrap();
}

/// Windows PowerShell's `>>` appends UTF-16 to a file, whatever the file's encoding.
#[test]
fn tokens_are_found_in_utf16_appended_to_utf8() {
    let dir = TestDir::with_courses();
    let key = dir.key("a").1 + "\n";
    for (_, bytes) in encodings(&key) {
        let appended = [b"plain\n", &*bytes].concat();
        let found = dir.run_reading(appended, "keys find --in-text -");
        assert!(found.out.contains("valid"), "{found:?}");
    }
    let [.., (_, appended), _] = encodings(&key);
    let checked = dir.run_reading([b"plain\n", &*appended].concat(), "keys check");
    assert_eq!(checked.out, "1: invalid\n");
    assert!(checked.err.contains("line 2 of standard input contains zero bytes, probably from UTF-16"), "{checked:?}");
}
