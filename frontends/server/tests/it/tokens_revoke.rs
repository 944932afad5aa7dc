//! `catalogue tokens revoke --account`, which revokes signed tokens of any issuer.

use crate::program::TestDir;

/// An ES256 token that expires in the year 2100, and its twin with the signature (r, n - s). The signatures are invalid.
/// The claims are `{"sub":"acc_gone","exp":4102444800}`.
const HEADER: &str = "eyJ0eXAiOiJhdCtqd3QiLCJhbGciOiJFUzI1NiJ9";
const CLAIMS: &str = "eyJzdWIiOiJhY2NfZ29uZSIsImV4cCI6NDEwMjQ0NDgwMH0";
const SIGNATURES: [&str; 2] = [
    "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyBkZWZnaGlqa2xtbm9wcXJzdHV2d3h5ent8fX5_gIGCgw",
    "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyCbmpmXl5aVlZOSkZCPjo2MSHGENi6eJAl3PExDe-Gizg",
];
/// Signature of another token.
const OTHER: &str = "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyBkZWZnaGlqa2xtbm9wcXJzdHV2d3h5ent8fX5_gIGChA";

fn token(signature: &str) -> String {
    format!("{HEADER}.{CLAIMS}.{signature}")
}

#[test]
fn revoked_token_and_its_twin_are_refused_immediately() {
    let dir = TestDir::with_courses();
    let server = dir.serve("--log off");
    let reason = |token: &str| {
        let (status, response) = server.get("/api/v1/me", token);
        assert_eq!(status, 401);
        response["error"]["details"]["reason"].as_str().unwrap().to_owned()
    };
    let [one, twin] = SIGNATURES.map(token);
    assert_eq!([reason(&one), reason(&twin)], ["invalid", "invalid"]);
    // The account does not exist.
    let revoke = || dir.run_reading(format!("{one}\n"), "tokens revoke --account acc_gone").succeeds();
    let output = revoke();
    let ids: Vec<_> = output.lines().map(|line| line.strip_suffix(" is revoked").unwrap()).collect();
    assert!(ids.len() == 2 && ids.iter().all(|id| id.starts_with("oauth:")), "{output}");
    assert_eq!([reason(&one), reason(&twin)], ["revoked", "revoked"]);
    assert_eq!(revoke(), output, "revoking it again is harmless");
    // The token stays revoked after the removal of another account. A token whose last byte differs is not revoked.
    dir.run("accounts remove a --yes").succeeds();
    assert_eq!([reason(&one), reason(&token(OTHER))], ["revoked", "invalid"]);
}

#[test]
fn unrevocable_tokens_are_reported_but_not_printed() {
    let dir = TestDir::with_courses();
    let one = token(SIGNATURES[0]);
    let endless = format!("{HEADER}.eyJzdWIiOiJhIn0.AAAA");
    for (input, arguments, status, piece) in [
        (&*one, "tokens revoke", 2, "--oauth-issuer"),
        (&one, "tokens revoke --account acc_other", 1, "--account: no claim of the token names it"),
        (&endless, "tokens revoke --account a", 1, "not a signed token with an expiry"),
        ("cato_hunter2", "tokens revoke --account a", 1, "keys revoke --token -"),
        ("", "tokens revoke --account a", 1, "tokens revoke < FILE"),
        ("a.b.c d.e.f", "tokens revoke --account a", 1, "is not a single token"),
    ] {
        let outcome = dir.run_reading(input, arguments);
        for part in [HEADER, CLAIMS, SIGNATURES[0], "hunter2"] {
            assert!(!outcome.err.contains(part) && !outcome.out.contains(part), "{outcome:?}");
        }
        outcome.fails(status, &[piece]);
    }
}
