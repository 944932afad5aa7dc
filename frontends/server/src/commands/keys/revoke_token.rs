//! `catalogue tokens revoke`: revokes a signed token, which is then refused from the next request on (decision O29).

use catalogue_core::auth::signed::Revocation;
use catalogue_core::auth::{Authenticator as _, BearerToken, Identity, Scopes, Verdict};
use catalogue_core::{AccountId, Timestamp};

use super::{Context, open, selector};
use crate::commands::block_on;
use crate::exit::Failure;
use crate::issuer::IssuerOptions;
use crate::output;
use crate::settings::ServeSettings;

const UNVERIFIED: &str = "pass --account ID to revoke it unverified";

pub(super) fn run(account: Option<&str>, context: &Context) -> Result<(), Failure> {
    let issuer = match account {
        None => ServeSettings::read(&context.settings).api.issuer,
        Some(_) => None,
    };
    context.settings.finish()?;
    if issuer.is_none() && account.is_none() {
        return Err(Failure::usage(format!("--oauth-issuer is not set; set it as for `serve`, or {UNVERIFIED}")));
    }
    let mut text = String::new();
    let token = selector::read_token(&mut text, "tokens revoke")?;
    let Some(revocation) = Revocation::of(token) else {
        return Err(Failure::work("not a signed token with an expiry; revoke others with `keys revoke --token -`"));
    };
    if account.is_some_and(|account| !revocation.mentions(account)) {
        return Err(Failure::work("--account: no claim of the token names it; pass the token's account"));
    }
    block_on(async {
        if let Some(issuer) = issuer {
            verify(&issuer, token).await?;
        }
        let (end, now) = (revocation.expires_at(), Timestamp::now());
        let revoked = open(context).await?.admin().revoke_tokens(revocation.digests(), end, now).await;
        revoked.map_err(|error| Failure::change_failed(&error, "the token is revoked", "revoking it again is harmless"))
    })?;
    let no_account = AccountId::new("");
    let id = |digest| Identity::oauth(no_account.clone(), digest, Scopes::default()).credential_id;
    let lines: Vec<_> = revocation.digests().iter().map(|digest| format!("{} is revoked", id(digest))).collect();
    output::print(&lines.join("\n")).map_err(|failure| failure.after(&lines.join(", ")))
}

/// Fails unless `serve` would accept the token, apart from a revocation.
async fn verify(issuer: &IssuerOptions, token: BearerToken<'_>) -> Result<(), Failure> {
    let why = match issuer.tokens()?.signed.authenticate(token).await {
        Ok(Verdict::Accepted(_)) => return Ok(()),
        Ok(Verdict::Refused(_, Some(explanation))) => format!("`serve` rejects the token anyway: {}", explanation.code),
        Ok(_) => format!("the token is not from {}", issuer.issuer),
        Err(error) => error.to_string(),
    };
    Err(Failure::work(format!("nothing was changed: {why}; {UNVERIFIED}")))
}
