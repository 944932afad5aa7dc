//! `tokens revoke`: the token must be verified, or its account named.

use std::fs::File;

use serde_json::json;

use super::server::{Issuer, courses, options, refusal, serve};
use crate::program::{Outcome, TestDir};

fn revoke(dir: &TestDir, options: &str, token: &str) -> Outcome {
    dir.write("token", token);
    let mut command = dir.command(&format!("tokens revoke --log off {options}"));
    command.stdin(File::open(dir.path("token")).unwrap()).output().unwrap().into()
}

#[test]
fn revoked_token_is_refused_by_next_request() {
    let Some((dir, issuer)) = Issuer::start() else { return };
    let observed = serve(&dir, &issuer);
    let [token, other] = [(); 2].map(|()| issuer.token(""));
    assert_eq!([courses(&observed, &token), courses(&observed, &other)], [200, 200]);
    let (_, me) = observed.server.get("/api/v1/me", &token);
    let message = revoke(&dir, &options(&issuer), &token).succeeds();
    let first = format!("{} is revoked\n", me["data"]["apiKeyId"].as_str().unwrap());
    // The second line is about the token's twin with the other valid signature.
    assert!(message.starts_with(&first) && message.lines().count() == 2, "{message}");
    let (status, challenge, reason) = refusal(&observed, &token);
    assert_eq!((status, reason), (401, json!("revoked")));
    assert!(challenge.contains(r#"error="invalid_token""#), "{challenge}");
    assert_eq!(courses(&observed, &other), 200);
}

#[test]
fn unverified_token_is_revoked_only_with_account() {
    let Some((dir, mut issuer)) = Issuer::start() else { return };
    let options = options(&issuer);
    let token = issuer.token("");
    let (signed, _) = token.rsplit_once('.').unwrap();
    let forged = format!("{signed}.AAAA");
    revoke(&dir, &options, &forged).fails(1, &["nothing was changed", "signature", "--account ID"]);
    let elsewhere = options.replace("example.com", "example.org");
    revoke(&dir, &elsewhere, &token).fails(1, &["nothing was changed", "audience"]);
    issuer.stop();
    revoke(&dir, &options, &token).fails(1, &["nothing was changed", &issuer.name, "--account ID"]);
    revoke(&dir, &format!("{options} --account b"), &token).fails(1, &["--account: no claim of the token names it"]);
    revoke(&dir, &format!("{options} --account a"), &token).succeeds();
}
