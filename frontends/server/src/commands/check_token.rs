//! `catalogue tokens check`: how `serve` would verify a signed token, step by step.

use std::borrow::Cow;
use std::io::Read as _;

use catalogue_core::auth::signed::{TokenType, UnverifiedToken};
use catalogue_core::auth::{Authenticator as _, BearerToken, Identity, Verdict};
use catalogue_core::{AccountId, Timestamp};

use super::{Context, block_on};
use crate::database::Storage;
use crate::exit::{Failure, chain};
use crate::input::{stdin, unreadable};
use crate::issuer::{self, IssuerOptions};
use crate::report::Report;
use crate::settings::ServeSettings;

/// Maximum length of the input in bytes; every token is shorter.
const MAX_BYTES: u64 = 1 << 16;

/// Claims that identify the kind of a token if every `typ` is accepted.
const KIND_CLAIMS: [&str; 7] = ["nonce", "at_hash", "c_hash", "typ", "token_use", "token_usage", "token_type"];
/// Claims that the step `claims` reports if it fails, unless the token's kind or `cnf` is the reason.
const CLAIMS: [&str; 11] = ["exp", "nbf", "iat", "sub", "client_id", "azp", "cid", "appid", "jti", "scope", "scp"];

/// Returns the step at which a token with the outcome `code` failed, and what the step expects. If every `typ` is
/// accepted, ID and refresh tokens are recognized by their claims.
fn failed_step(options: &IssuerOptions, code: &str) -> (&'static str, Cow<'static, str>) {
    let any_type = options.token_type == TokenType::Any;
    let (step, expected) = match code {
        "form" => {
            ("form", "three base64url parts, the first two JSON objects; for opaque tokens, set --oauth-introspection")
        }
        "length" => ("form", "at most 8192 characters"),
        "issuer" => return ("issuer", format!("{:?} (--oauth-issuer)", options.issuer).into()),
        "header" => ("header", "typ, alg and kid, each once and as a string"),
        "typ" if any_type => (
            "claims",
            "typ at+jwt in the header; or no claim typ, token_use, token_usage or token_type of an ID or refresh token, \
             and no nonce, at_hash or c_hash unless the claim typ is Bearer",
        ),
        "typ" => ("header", "at+jwt; --oauth-token-type any also accepts other access tokens"),
        "alg" => ("header", "one of --oauth-algorithms"),
        "crit" => ("header", "no crit"),
        "key" => ("keys", "a key with the kid and alg of the token"),
        "unavailable" => ("keys", ""),
        "signature" => ("signature", "a signature by a key of the issuer"),
        "audience" => return ("audience", format!("{:?} (--oauth-audience)", options.audience).into()),
        "bound" => ("claims", "no cnf: tokens bound to a key are not supported"),
        "not_before" => ("claims", "an nbf at most 30 s in the future"),
        "account" => ("account", "an id of 1 to 200 bytes other than the client's (--oauth-account-claim)"),
        "expired" => ("times", "an exp in the future"),
        _ => {
            let more = if any_type { "" } else { ", sub, client_id, iat and jti" };
            let of_type = "each known claim at most once, readable and of the right type";
            return ("claims", format!("exp, {}{more}, and {of_type}", options.account_claim).into());
        }
    };
    (step, expected.into())
}

pub(super) fn run(json: bool, context: &Context) -> Result<(), Failure> {
    let settings = ServeSettings::read(&context.settings);
    context.settings.finish()?;
    let Some(issuer) = &settings.api.issuer else {
        return Err(Failure::usage("--oauth-issuer is not set; pass the same value as for `serve`"));
    };
    let mut text = String::new();
    stdin("one token, then Ctrl+D").take(MAX_BYTES).read_to_string(&mut text).map_err(|error| unreadable(&error))?;
    let mut report = Report::default();
    block_on(async {
        if let Some(token) = BearerToken::new(text.trim()) {
            if !introspect(&settings, token, &mut report).await? {
                let account = check(issuer, token, &mut report).await?;
                check_revocation(&settings, token, account, &mut report).await;
            }
        } else {
            report.error("form", "standard input contains no token");
        }
        Ok(())
    })?;
    report.finish(json)
}

/// Reports the result of token introspection. Returns `false` if it is off or does not apply to the token.
async fn introspect(settings: &ServeSettings, token: BearerToken<'_>, report: &mut Report) -> Result<bool, Failure> {
    let tokens = settings.api.issuer.as_ref().map(IssuerOptions::tokens).transpose()?;
    let Some(tokens) = tokens.and_then(|tokens| tokens.opaque) else { return Ok(false) };
    let step = "introspection";
    match tokens.authenticate(token).await {
        Ok(Verdict::Accepted(Identity { account, scopes, .. })) => {
            report.ok(step, format!("the issuer reports it as active: account {:?}, {scopes}", account.as_str()));
            if !settings.database.is_missing() {
                match settings.database.open().await {
                    Ok(storage) => warn_if_account_missing(&account, &storage, report).await,
                    Err(open_failure) => report.warning("account", open_failure.failure.message()),
                }
            }
        }
        Ok(Verdict::Refused(_, Some(why))) => {
            let refused = |what: &str| format!("the issuer's response is rejected: {what}");
            report.error(
                step,
                match (why.code, why.description) {
                    ("length", _) => {
                        "the token has more than 8192 characters, so the issuer was not queried".to_owned()
                    }
                    ("typ", _) => {
                        refused("not an access token, according to token_use, token_usage, token_type, typ or nonce")
                    }
                    ("issuer", _) => refused("iss names another issuer"),
                    (code, description) => refused(description.unwrap_or(code)),
                },
            );
        }
        Ok(_) => return Ok(false),
        Err(error) => report.error(step, chain(&error)),
    }
    Ok(true)
}

/// Reports each step of verifying a signed token. Returns its account if it is accepted.
async fn check(
    options: &IssuerOptions,
    token: BearerToken<'_>,
    report: &mut Report,
) -> Result<Option<AccountId>, Failure> {
    let unverified = UnverifiedToken::of(token);
    let claim = |name: &str| unverified.as_ref().map_or_else(String::new, |unverified| unverified.claim(name));
    let header = |name: &str| unverified.as_ref().map_or_else(String::new, |unverified| unverified.header(name));
    let (tokens, keys) = issuer::fetch(options).await?;
    let keys = keys.map_or_else(|why| why, |_| format!("{} usable, just fetched", tokens.keys().usable));
    let verdict = tokens.authenticate(token).await;
    let code = match &verdict {
        Ok(Verdict::Accepted(_)) => "",
        Ok(Verdict::Refused(_, Some(explanation))) => explanation.code,
        Ok(_) if unverified.is_none() => "form",
        Ok(_) => "issuer",
        Err(_) => "unavailable",
    };
    let (failed, expected) = if code.is_empty() { ("", "".into()) } else { failed_step(options, code) };
    // Lists the claims in `names` that the token has.
    let found_among = |names: &[&str]| {
        let found = names.iter().map(|name| (name, claim(name))).filter(|(_, value)| value != "null");
        found.map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
    };
    let claims = match (failed, code) {
        ("claims", "typ") => found_among(&KIND_CLAIMS),
        ("claims", "bound") => found_among(&["cnf"]),
        ("claims", _) => found_among(&CLAIMS),
        _ => String::new(),
    };
    let scopes = match &verdict {
        Ok(Verdict::Accepted(identity)) if identity.scopes.is_empty() => "none of this API".to_owned(),
        Ok(Verdict::Accepted(identity)) => identity.scopes.to_string(),
        _ => String::new(),
    };
    let mut is_reached = true;
    // `exp` is verified last: an expired token has passed all other steps.
    for (name, found) in [
        ("form", format!("{} parts, {} characters", token.expose().split('.').count(), token.expose().len())),
        ("issuer", claim("iss")),
        ("header", format!("typ {}, alg {}, kid {}", header("typ"), header("alg"), header("kid"))),
        ("keys", keys),
        ("signature", String::new()),
        ("audience", claim("aud")),
        ("claims", claims),
        ("account", format!("{} {}", options.account_claim, claim(&options.account_claim))),
        ("scopes", scopes),
        ("times", format!("until {}", instant(&claim("exp")))),
    ] {
        if failed == name {
            is_reached = false;
            let texts = [found, format!("expected {expected}")];
            let texts = texts.iter().filter(|text| !["", "expected "].contains(&&***text));
            report.error(name, texts.map(|text| &**text).collect::<Vec<_>>().join("; "));
        } else if is_reached {
            report.ok(name, found);
        } else {
            report.not_reached(name);
        }
    }
    Ok(if let Ok(Verdict::Accepted(identity)) = verdict { Some(identity.account) } else { None })
}

fn instant(claim: &str) -> String {
    let seconds: Option<i64> = claim.parse().ok();
    let at = seconds.and_then(|seconds| Timestamp::from_microseconds(seconds.checked_mul(1_000_000)?));
    at.map_or_else(|| claim.to_owned(), |at| at.to_string())
}

/// Reports whether the token was revoked locally and whether its account exists, if there is a database.
async fn check_revocation(
    settings: &ServeSettings,
    token: BearerToken<'_>,
    account: Option<AccountId>,
    report: &mut Report,
) {
    const STEP: &str = "revoked";
    if settings.database.is_missing() {
        return report.not_reached(STEP);
    }
    let storage = match settings.database.open().await {
        Ok(storage) => storage,
        Err(open_failure) => return report.error(STEP, open_failure.failure.message()),
    };
    match storage.credentials().is_revoked(&token.digest()).await {
        Ok(Some(true)) => report.error(STEP, "the token was revoked in this database"),
        Ok(_) => report.ok(STEP, "no"),
        Err(error) => report.error(STEP, chain(&error)),
    }
    if let Some(account) = account {
        warn_if_account_missing(&account, &storage, report).await;
    }
}

/// Warns if the database does not have the account.
async fn warn_if_account_missing(account: &AccountId, storage: &Storage, report: &mut Report) {
    match storage.keys().list_keys(account, Timestamp::MAX, 0).await {
        Ok(Some(_)) => {}
        Ok(None) => report
            .warning("account", format!("the database has no account {:?}, so it has no courses", account.as_str())),
        Err(error) => report.warning("account", chain(&error)),
    }
}
