//! `tokens revoke`: the issuer's own word is needed, or the account.

use std::fs::File;

use serde_json::json;

use crate::issuer::{Issuer, courses, options, refusal, serve};
use crate::program::{Outcome, TestDir};

fn revoke(dir: &TestDir, options: &str, token: &str) -> Outcome {
    dir.write("token", token);
    let mut command = dir.command(&format!("tokens revoke --log off {options}"));
    command.stdin(File::open(dir.path("token")).unwrap()).output().unwrap().into()
}

#[test]
fn a_verified_token_is_refused_from_the_next_request_on() {
    let dir = TestDir::with_courses();
    let Some(issuer) = Issuer::start(&dir) else { return };
    let observed = serve(&dir, &issuer);
    for (algorithm, texts) in [("ES256", 2), ("RS256", 1), ("EdDSA", 1)] {
        let [token, other] = [(); 2].map(|()| issuer.token(&format!("alg={algorithm}")));
        assert_eq!([courses(&observed, &token), courses(&observed, &other)], [200, 200]);
        let (_, me) = observed.server.get("/api/v1/me", &token);
        let message = revoke(&dir, &options(&issuer), &token).succeeds();
        assert!(
            message.starts_with(&format!("{} is revoked\n", me["data"]["apiKeyId"].as_str().unwrap())),
            "{message}"
        );
        assert_eq!(message.lines().count(), texts, "{message}");
        let (status, challenge, reason) = refusal(&observed, &token);
        assert_eq!((status, reason), (401, json!("revoked")));
        assert!(challenge.contains(r#"error="invalid_token""#), "{challenge}");
        assert_eq!(courses(&observed, &other), 200);
    }
}

#[test]
fn what_the_issuer_does_not_vouch_for_is_revoked_by_its_account_alone() {
    let dir = TestDir::with_courses();
    let Some(mut issuer) = Issuer::start(&dir) else { return };
    let options = options(&issuer);
    let token = issuer.token("");
    let (signed, _) = token.rsplit_once('.').unwrap();
    let forged = format!("{signed}.AAAA");
    revoke(&dir, &options, &forged).fails(1, &["nothing was changed", "signature", "--account ID"]);
    let elsewhere = options.replace("example.com", "example.org");
    revoke(&dir, &elsewhere, &token).fails(1, &["nothing was changed", "audience"]);
    issuer.stop();
    revoke(&dir, &options, &token).fails(1, &["nothing was changed", &issuer.name, "--account ID"]);
    revoke(&dir, &format!("{options} --account b"), &token).fails(1, &["no claim of the token is that account"]);
    revoke(&dir, &format!("{options} --account a"), &token).succeeds();
}
