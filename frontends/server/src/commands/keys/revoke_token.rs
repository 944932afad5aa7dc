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

const UNVERIFIED: &str = "`--account ID` revokes it unverified";

pub(super) fn run(account: Option<&str>, context: &Context) -> Result<(), Failure> {
    let issuer = match account {
        None => ServeSettings::read(&context.settings).api.issuer,
        Some(_) => None,
    };
    context.settings.finish()?;
    if issuer.is_none() && account.is_none() {
        return Err(Failure::usage(format!("no issuer is named; write --oauth-issuer as for serve, or {UNVERIFIED}")));
    }
    let mut text = String::new();
    let token = selector::read_token(&mut text, "tokens revoke")?;
    let Some(revocation) = Revocation::of(token) else {
        let other = "any other is ended by `keys revoke --token -`";
        return Err(Failure::work(format!("this is not a signed token that expires; {other}")));
    };
    if account.is_some_and(|account| !revocation.mentions(account)) {
        return Err(Failure::work("no claim of the token is that account; write whose token it is"));
    }
    block_on(async {
        if let Some(issuer) = issuer {
            verify(&issuer, token).await?;
        }
        let (end, now) = (revocation.expires_at(), Timestamp::now());
        let revoked = open(context).await?.admin().revoke_tokens(revocation.digests(), end, now).await;
        revoked
            .map_err(|error| Failure::change_failed(&error, "the token is revoked", "to revoke it again does no harm"))
    })?;
    let nobody = AccountId::new("");
    let id = |digest| Identity::oauth(nobody.clone(), digest, Scopes::default()).credential_id;
    let lines: Vec<_> = revocation.digests().iter().map(|digest| format!("{} is revoked", id(digest))).collect();
    output::print(&lines.join("\n")).map_err(|failure| failure.after(&lines.join(", ")))
}

/// Fails unless `serve` would accept the token, apart from a revocation.
async fn verify(issuer: &IssuerOptions, token: BearerToken<'_>) -> Result<(), Failure> {
    let why = match issuer.tokens()?.signed.authenticate(token).await {
        Ok(Verdict::Accepted(_)) => return Ok(()),
        Ok(Verdict::Refused(_, Some(explanation))) => format!("serve refuses the token anyway: {}", explanation.code),
        Ok(_) => format!("the token is not of {}", issuer.issuer),
        Err(error) => error.to_string(),
    };
    Err(Failure::work(format!("nothing was changed: {why}; {UNVERIFIED}")))
}
