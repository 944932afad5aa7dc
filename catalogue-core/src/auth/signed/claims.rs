//! [`Rules`]: checks of the claims, except `iss`, after the issuer has vouched for them (decisions O10 and O14 to O19).

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::TokenType;
use super::json_object::{JsonObject, Malformed};
use super::outcome::Outcome;
use crate::model::{AccountId, Scope, Scopes};
use crate::timestamp::Timestamp;

/// Maximum time that `nbf` may be ahead of this clock. `exp` has no leeway (decision C3).
const LEEWAY: Duration = Duration::from_secs(30);
/// Maximum length of an account's id, in bytes.
const MAX_ACCOUNT_BYTES: usize = 200;
const ID_TOKEN_CLAIMS: [&str; 3] = ["nonce", "at_hash", "c_hash"];
/// Claims in which issuers write the kind of token: Keycloak; Amazon Cognito and Ory Hydra; `OpenIddict`; Simple JWT.
const TYPE_CLAIMS: [&str; 4] = ["typ", "token_use", "token_usage", "token_type"];
/// Values of [`TYPE_CLAIMS`], in lower case, for tokens that are not access tokens.
const OTHER_TOKEN_TYPES: [&str; 7] =
    ["id", "id_token", "serialized-id", "refresh", "refresh_token", "offline", "logout"];

/// Rules that claims are checked against.
#[derive(Clone, Debug)]
pub(in crate::auth) struct Rules {
    pub(super) audience: String,
    pub(super) token_type: TokenType,
    pub(super) account_claim: String,
    /// Prefix that the issuer puts before the names of the catalogue's scopes.
    pub(super) scope_prefix: String,
}

/// Account, client and scopes that a token grants, and its expiry.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::auth) struct Grant {
    pub(in crate::auth) account: AccountId,
    pub(in crate::auth) client: Option<Arc<str>>,
    pub(in crate::auth) scopes: Scopes,
    pub(in crate::auth) expires: Timestamp,
}

/// A malformed claim has the outcome of a missing one.
impl From<Malformed> for Outcome {
    fn from(Malformed: Malformed) -> Self {
        Self::Claim
    }
}

impl Rules {
    /// Returns what `claims` grant at `now`. `is_access_token` is whether the token's header declares an access token.
    pub(in crate::auth) fn grant(
        &self,
        claims: &JsonObject,
        is_access_token: bool,
        now: Timestamp,
    ) -> Result<Grant, Outcome> {
        if !self.accepts_audience(claims.get("aud")?.as_ref()) {
            return Err(Outcome::Audience);
        }
        if claims.get("cnf") != Ok(None) {
            return Err(Outcome::Bound);
        }
        self.check_type(claims, is_access_token)?;
        let expires = claims.number("exp")?.and_then(instant).ok_or(Outcome::Claim)?;
        let begins = claims.number("nbf")?.map(|nbf| instant(nbf).ok_or(Outcome::Claim)).transpose()?;
        if begins.is_some_and(|begins| now.checked_add(LEEWAY).is_some_and(|latest| begins > latest)) {
            return Err(Outcome::NotBefore);
        }
        let client = client(claims)?;
        let account = self.account(claims, client.as_deref())?;
        let scopes = self.scopes(claims)?;
        // Checked last: "expired" implies that all other checks passed.
        if expires <= now {
            return Err(Outcome::Expired);
        }
        Ok(Grant { account, client: client.map(Into::into), scopes, expires })
    }

    fn accepts_audience(&self, audience: Option<&Value>) -> bool {
        match audience {
            Some(Value::String(one)) => *one == self.audience,
            Some(Value::Array(several)) => several.iter().any(|one| *one == *self.audience),
            _ => false,
        }
    }

    /// Checks that the claims are those of an access token.
    fn check_type(&self, claims: &JsonObject, is_access_token: bool) -> Result<(), Outcome> {
        let issued_at = claims.number("iat")?;
        match self.token_type {
            TokenType::AccessToken => {
                let required = [claims.text("sub")?, claims.text("client_id")?, claims.text("jti")?];
                let has_all = issued_at.is_some() && required.iter().all(Option::is_some);
                if has_all { Ok(()) } else { Err(Outcome::Claim) }
            }
            TokenType::Any if is_access_token => Ok(()),
            TokenType::Any => check_kind(claims),
        }
    }

    fn account(&self, claims: &JsonObject, client: Option<&str>) -> Result<AccountId, Outcome> {
        let claim = claims.get(&self.account_claim)?.ok_or(Outcome::Claim)?;
        let account = claim.as_str().filter(|account| is_account_id(account)).ok_or(Outcome::Account)?;
        // A client that acts for itself must not become the account with its name (RFC 9068 section 5).
        if self.account_claim == "sub" && client == Some(account) {
            return Err(Outcome::Account);
        }
        Ok(AccountId::new(account))
    }

    /// Returns the token's scopes that section 5.4 defines; the others belong to other resources.
    fn scopes(&self, claims: &JsonObject) -> Result<Scopes, Outcome> {
        let Some(granted) = claims.get("scope")?.map_or_else(|| claims.get("scp"), |scope| Ok(Some(scope)))? else {
            return Ok(Scopes::default());
        };
        let names: Vec<_> = match &granted {
            Value::String(names) => names.split(' ').collect(),
            Value::Array(names) => names.iter().map(Value::as_str).collect::<Option<_>>().ok_or(Outcome::Claim)?,
            _ => return Err(Outcome::Claim),
        };
        let scopes = names.into_iter().filter_map(|name| name.strip_prefix(&*self.scope_prefix)).map(Scope::from_name);
        Ok(scopes.filter(|scope| !matches!(scope, Scope::Other(_))).collect())
    }
}

/// Checks that no claim declares another kind of token: RFC 9068 declares it in the header, but many issuers do in a claim.
fn check_kind(claims: &JsonObject) -> Result<(), Outcome> {
    let mut is_bearer = false;
    for claim in TYPE_CLAIMS {
        let kind = claims.get(claim)?.as_ref().and_then(Value::as_str).map(str::to_ascii_lowercase);
        if kind.as_deref().is_some_and(|kind| OTHER_TOKEN_TYPES.contains(&kind)) {
            return Err(Outcome::Typ);
        }
        is_bearer |= claim == "typ" && kind.as_deref() == Some("bearer");
    }
    // Before version 25, Keycloak puts the nonce of the sign-in into access tokens too.
    let is_id_token = !is_bearer && ID_TOKEN_CLAIMS.iter().any(|claim| claims.get(claim) != Ok(None));
    if is_id_token { Err(Outcome::Typ) } else { Ok(()) }
}

/// Returns the client that the token was issued to: RFC 9068's claim, or the claim of Keycloak, Okta or Entra ID.
fn client(claims: &JsonObject) -> Result<Option<String>, Malformed> {
    for name in ["client_id", "azp", "cid", "appid"] {
        if let Some(client) = claims.text(name)? {
            return Ok(Some(client));
        }
    }
    Ok(None)
}

fn is_account_id(text: &str) -> bool {
    (1..=MAX_ACCOUNT_BYTES).contains(&text.len()) && !text.chars().any(char::is_control)
}

/// Converts seconds since 1970, which may have a fraction. Returns `None` for negative ones, and for times after the year
/// 9999, so that an issuer that counts milliseconds is detected.
pub(super) fn instant(seconds: f64) -> Option<Timestamp> {
    // The cast saturates.
    let microseconds = (seconds * 1e6) as i64;
    Timestamp::from_microseconds(microseconds).filter(|_| seconds >= 0.0)
}
