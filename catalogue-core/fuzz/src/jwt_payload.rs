//! The claims of a signed token (decisions O9, O10 and O14 to O20): any text, in a token whose signature is right. The first
//! byte of an input says by which rules it is read.

use std::sync::LazyLock;
use std::time::{SystemTime, UNIX_EPOCH};

use catalogue_core::auth::signed::{SignedTokens, TokenType};
use catalogue_core::auth::{CredentialKind, Identity, Verdict};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::signers::{AUDIENCE, Bad, ISSUER, Object, second_opinion, token, tokens, verdict};

/// By the letter that they are chosen with: usual ones; other names; any type.
static TOKENS: LazyLock<[(u8, SignedTokens); 3]> = LazyLock::new(|| {
    [
        (b'0', tokens(|builder| builder)),
        (b'1', tokens(|builder| builder.account_claim("account").scope_prefix("cat:"))),
        (b'2', tokens(|builder| builder.token_type(TokenType::Any))),
    ]
});

/// What is said of another kind of token.
const OTHER_KINDS: [&str; 7] = ["id", "id_token", "serialized-id", "refresh", "refresh_token", "offline", "logout"];

pub fn check(input: &[u8]) {
    let [rules, payload @ ..] = input else { return };
    let Some((rules, tokens)) = TOKENS.iter().find(|(letter, _)| letter == rules) else { return };
    let typ = if *rules == b'2' { "JWT" } else { "at+jwt" };
    let text = token(format!(r#"{{"alg":"EdDSA","typ":"{typ}","kid":"ed"}}"#).as_bytes(), payload, "EdDSA");
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
            let (claims, is_readable) =
                (second_opinion(&text, "EdDSA"), serde_json::from_slice::<Value>(payload).is_ok());
            assert!(!is_readable || claims.is_ok(), "{claims:?} {}", shown());
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
    let Some(claims) = Object::read(payload) else { return Ok(None) };
    let Ok([exp, nbf]) = read(&claims, ["exp", "nbf"]) else { return Ok(None) };
    let Some(exp) = exp.as_ref().and_then(instant) else { return Ok(None) };
    let Some(nbf) = nbf.as_ref().map_or(Some(0.0), instant) else { return Ok(None) };
    if (exp - now).abs() < 5.0 || (nbf - now - 30.0).abs() < 5.0 {
        return Err(TooNear);
    }
    let is_timely = exp > now && nbf <= now + 30.0;
    Ok(grant(rules, &claims).ok().flatten().filter(|_| is_timely))
}

fn read<const N: usize>(claims: &Object, names: [&str; N]) -> Result<[Option<Value>; N], Bad> {
    let values: Vec<_> = names.into_iter().map(|name| claims.member(name)).collect::<Result<_, _>>()?;
    Ok(values.try_into().expect("as many as names"))
}

fn grant(rules: u8, claims: &Object) -> Result<Option<Granted>, Bad> {
    let [iss, aud, cnf, iat, sub, client_id] = read(claims, ["iss", "aud", "cnf", "iat", "sub", "client_id"])?;
    let is_ours = iss.is_some_and(|iss| iss == ISSUER)
        && match &aud {
            Some(Value::Array(several)) => several.iter().any(|one| one == AUDIENCE),
            Some(one) => one == AUDIENCE,
            None => false,
        };
    if !is_ours || cnf.is_some() {
        return Ok(None);
    }
    let text = |claim: &Option<Value>| claim.as_ref().and_then(Value::as_str).map(str::to_owned);
    let mut client = text(&client_id);
    if rules == b'2' {
        if iat.is_some_and(|iat| !iat.is_number()) || !is_access(claims)? {
            return Ok(None);
        }
        let names = ["client_id", "azp", "cid", "appid"];
        let first = names.into_iter().map(|name| claims.member(name)).find(|claim| *claim != Ok(None));
        let first = first.transpose()?.flatten();
        client = text(&first);
        if first.is_some() && client.is_none() {
            return Ok(None);
        }
    } else {
        let [jti] = read(claims, ["jti"])?;
        let are_there = iat.is_some_and(|iat| iat.is_number())
            && [&sub, &client_id, &jti].iter().all(|claim| text(claim).is_some());
        if !are_there {
            return Ok(None);
        }
    }
    let account = if rules == b'1' { text(&claims.member("account")?) } else { text(&sub) };
    let can_be_one =
        |account: &String| (1..=200).contains(&account.len()) && !account.contains(|c: char| c.is_control());
    let Some(account) = account.filter(can_be_one).filter(|account| rules == b'1' || client.as_ref() != Some(account))
    else {
        return Ok(None);
    };
    let granted = match claims.member("scope")? {
        None => claims.member("scp")?,
        scope => scope,
    };
    let names: Option<Vec<String>> = match granted {
        None => Some(Vec::new()),
        Some(Value::String(names)) => Some(names.split(' ').map(str::to_owned).collect()),
        Some(Value::Array(names)) => names.iter().map(|name| name.as_str().map(str::to_owned)).collect(),
        Some(_) => None,
    };
    let Some(names) = names else { return Ok(None) };
    let prefix = if rules == b'1' { "cat:" } else { "" };
    let has = |scope: &&str| names.iter().any(|name| *name == format!("{prefix}{scope}"));
    let scopes = ["read:profile", "read:courses"].iter().copied().filter(|scope| has(scope)).map(str::to_owned);
    Ok(Some((account, client, scopes.collect())))
}

/// Whether the claims do not say that it is another kind of token.
fn is_access(claims: &Object) -> Result<bool, Bad> {
    let kinds = read(claims, ["typ", "token_use", "token_usage", "token_type"])?;
    let kinds = kinds.map(|kind| kind.as_ref().and_then(Value::as_str).unwrap_or_default().to_ascii_lowercase());
    let is_other = kinds.iter().any(|kind| OTHER_KINDS.contains(&&**kind));
    let is_marked = ["nonce", "at_hash", "c_hash"].iter().any(|claim| claims.member(claim) != Ok(None));
    Ok(!is_other && (kinds[0] == "bearer" || !is_marked))
}

/// Seconds after 1970, up to the end of the year 9999.
fn instant(claim: &Value) -> Option<f64> {
    claim.as_f64().filter(|seconds| (0.0..253_402_300_800.0).contains(seconds))
}
