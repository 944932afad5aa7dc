//! The claims of a signed token (decisions O9, O10 and O14 to O20): any text, in a token whose signature is right. The first
//! byte of an input says by which rules it is read.

use std::sync::LazyLock;
use std::time::{SystemTime, UNIX_EPOCH};

use catalogue_core::auth::signed::{SignedTokens, TokenType};
use catalogue_core::auth::{CredentialKind, Identity, Verdict};
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::signers::{AUDIENCE, ISSUER, present, read, second_opinion, token, tokens, verdict};

/// By the letter that they are chosen with: usual ones; other names; any type.
static TOKENS: LazyLock<[(u8, SignedTokens); 3]> = LazyLock::new(|| {
    [
        (b'0', tokens(|builder| builder)),
        (b'1', tokens(|builder| builder.account_claim("account").scope_prefix("cat:"))),
        (b'2', tokens(|builder| builder.token_type(TokenType::Any))),
    ]
});

/// Members that are read by all rules.
#[derive(Deserialize)]
struct Claims {
    #[serde(default, deserialize_with = "present")]
    iss: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    aud: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    exp: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    nbf: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    iat: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    sub: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    client_id: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    cnf: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    scope: Option<Value>,
}

/// Members that are read by some rules, or instead of others.
#[derive(Deserialize)]
struct Jti {
    #[serde(default, deserialize_with = "present")]
    jti: Option<Value>,
}

#[derive(Deserialize)]
struct Account {
    #[serde(default, deserialize_with = "present")]
    account: Option<Value>,
}

#[derive(Deserialize)]
struct Scp {
    #[serde(default, deserialize_with = "present")]
    scp: Option<Value>,
}

/// What tells an ID token.
#[derive(Deserialize)]
struct IdToken {
    #[serde(default, deserialize_with = "present")]
    nonce: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    at_hash: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    c_hash: Option<Value>,
}

pub fn check(input: &[u8]) {
    let [rules, payload @ ..] = input else { return };
    let Some((rules, tokens)) = TOKENS.iter().find(|(letter, _)| letter == rules) else { return };
    let text = token(br#"{"alg":"EdDSA","typ":"at+jwt","kid":"ed"}"#, payload, "EdDSA");
    let found = verdict(tokens, &text);
    assert_eq!(verdict(tokens, &text), found);
    let shown = || String::from_utf8_lossy(payload);
    let meant = if text.len() <= 8192 { meant(*rules, payload) } else { Ok(None) };
    match (&found, meant) {
        (_, Err(TooNear)) => {}
        (Verdict::Accepted(identity), Ok(Some(meant))) => {
            assert_eq!(granted(identity), meant, "{}", shown());
            let digest = Sha256::digest(&text);
            let id: String = digest[..16].iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!((&*identity.credential_id, identity.kind), (&*format!("oauth:{id}"), CredentialKind::OAuth));
            let claims = second_opinion(&text, "EdDSA");
            assert!(claims.is_ok(), "{claims:?} {}", shown());
        }
        (Verdict::Accepted(_), Ok(None)) => panic!("taken: {}", shown()),
        (_, Ok(Some(_))) => panic!("not taken: {found:?} {}", shown()),
        (_, Ok(None)) => {}
    }
}

/// Account, client and scopes.
type Granted = (String, Option<String>, Vec<String>);

/// A time is so near that the clock decides.
struct TooNear;

fn granted(identity: &Identity) -> Granted {
    let issued = identity.issued.as_ref().expect("it is an issuer's");
    assert_eq!(&*issued.issuer, ISSUER);
    let scopes = identity.scopes.iter().map(|scope| scope.name().to_owned()).collect();
    (identity.account.as_str().to_owned(), issued.client.as_deref().map(str::to_owned), scopes)
}

/// What a payload grants, if it is right.
fn meant(rules: u8, payload: &[u8]) -> Result<Option<Granted>, TooNear> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
    let Some(claims) = read::<Claims>(payload) else { return Ok(None) };
    let Some(exp) = instant(claims.exp.as_ref()) else { return Ok(None) };
    let nbf = match &claims.nbf {
        None => 0.0,
        nbf => match instant(nbf.as_ref()) {
            Some(nbf) => nbf,
            None => return Ok(None),
        },
    };
    if (exp - now).abs() < 5.0 || (nbf - now - 30.0).abs() < 5.0 {
        return Err(TooNear);
    }
    let is_timely = exp > now && nbf <= now + 30.0;
    let is_ours = claims.iss.as_ref().is_some_and(|iss| iss == ISSUER)
        && match &claims.aud {
            Some(Value::Array(several)) => several.iter().any(|one| one == AUDIENCE),
            Some(one) => one == AUDIENCE,
            None => false,
        };
    if !is_timely || !is_ours || claims.cnf.is_some() {
        return Ok(None);
    }
    Ok(grant(rules, payload, &claims))
}

fn grant(rules: u8, payload: &[u8], claims: &Claims) -> Option<Granted> {
    let text = |claim: &Option<Value>| claim.as_ref().and_then(Value::as_str).map(str::to_owned);
    let is_text = |claim: &Option<Value>| text(claim).is_some();
    if rules == b'2' {
        let id_token: IdToken = read(payload)?;
        let is_access = id_token.nonce.is_none() && id_token.at_hash.is_none() && id_token.c_hash.is_none();
        let are_right =
            claims.iat.as_ref().is_none_or(is_number) && (claims.client_id.is_none() || is_text(&claims.client_id));
        (is_access && are_right).then_some(())?;
    } else {
        let jti: Jti = read(payload)?;
        let are_there = is_text(&claims.sub) && is_text(&claims.client_id) && is_text(&jti.jti);
        (are_there && claims.iat.as_ref().is_some_and(is_number)).then_some(())?;
    }
    let client = text(&claims.client_id);
    let account = if rules == b'1' { text(&read::<Account>(payload)?.account)? } else { text(&claims.sub)? };
    let can_be_one = (1..=200).contains(&account.len()) && !account.contains(|c: char| c.is_control());
    (can_be_one && (rules == b'1' || client.as_ref() != Some(&account))).then_some(())?;
    let granted = match &claims.scope {
        None => read::<Scp>(payload)?.scp,
        scope => scope.clone(),
    };
    let names: Vec<String> = match granted {
        None => Vec::new(),
        Some(Value::String(names)) => names.split(' ').map(str::to_owned).collect(),
        Some(Value::Array(names)) => {
            names.iter().map(|name| name.as_str().map(str::to_owned)).collect::<Option<_>>()?
        }
        Some(_) => return None,
    };
    let prefix = if rules == b'1' { "cat:" } else { "" };
    let has = |scope: &&str| names.iter().any(|name| *name == format!("{prefix}{scope}"));
    let scopes = ["read:profile", "read:courses"].iter().copied().filter(|scope| has(scope)).map(str::to_owned);
    Some((account, client, scopes.collect()))
}

fn is_number(value: &Value) -> bool {
    value.as_f64().is_some()
}

/// Seconds after 1970, up to the end of the year 9999.
fn instant(claim: Option<&Value>) -> Option<f64> {
    claim?.as_f64().filter(|seconds| (0.0..253_402_300_800.0).contains(seconds))
}
