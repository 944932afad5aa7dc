//! Bodies of forms and of their JSON. An input is a method and a path, and below them the body. `KEY` stands for the id of a
//! key, `NONCE` for a nonce of now.

use bytes::Bytes;
use http::{Request, Response};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::model::{Fields, expiry, is_doubtful, is_nonce, name, nonce};
use super::world::{KEY, World, clock};
use catalogue_core::Timestamp;
use catalogue_core::admin::CredentialRecord;
use catalogue_core::auth::Scope;

/// What a new key is to be.
type Wanted = (String, Vec<&'static str>, Option<Timestamp>);

pub fn check(input: &[u8]) {
    let text = String::from_utf8_lossy(input).replace("KEY", KEY).replace("NONCE", &nonce());
    let Some((head, body)) = text.split_once('\n') else { return };
    let Some((method, path)) = head.split_once(' ') else { return };
    let body = body.as_bytes();
    let is_json = path.starts_with("/settings/api/");
    let media_type = if is_json { "application/json" } else { "application/x-www-form-urlencoded" };
    let request = || {
        let request = Request::builder().method(method).uri(path).header("content-type", media_type);
        request.header("sec-fetch-site", "same-origin").body(body.to_vec()).ok()
    };
    let Some(first) = request() else { return };
    let world = World::new();
    let answer = world.ask(first);
    match (method, path) {
        _ if body.len() > 16 << 10 && method != "GET" => {}
        ("POST", "/settings/keys") => check_created(&world, &answer, form(body)),
        ("POST", "/settings/api/keys") => check_created(&world, &answer, json(body)),
        ("POST", path) if path == format!("/settings/keys/{KEY}/name") => {
            let fields = Fields::read(body);
            let is_known = fields.one("name").is_none_or(|name| !is_doubtful(name));
            check_renamed(&world, &answer, fields.one("name").and_then(name), is_known);
        }
        ("POST", path) if path == format!("/settings/keys/{KEY}/rotate") => {
            let fields = Fields::read(body);
            let is_overlap = fields.one("overlap").is_some_and(|choice| ["0", "1h", "24h", "7d"].contains(&choice));
            let is_right = is_overlap && fields.one("nonce").is_some_and(is_nonce);
            assert_eq!(answer.status(), if is_right { 201 } else { 400 }, "{text:?}");
            assert_eq!(world.keys().len(), if is_right { 2 } else { 1 });
        }
        _ => {}
    }
    // Whoever sends it twice makes nothing twice.
    let keys = world.keys().len();
    let again = world.ask(request().expect("it was one before"));
    let has_nonce =
        || serde_json::from_slice::<NewKey>(body).is_ok_and(|new| new.nonce.is_some_and(|it| it.is_string()));
    if method == "POST" && (path == "/settings/keys" || path == "/settings/api/keys" && has_nonce()) {
        assert_eq!(world.keys().len(), keys, "{text:?}");
        assert!(answer.status() != 201 || again.status() == 409, "{text:?}");
    }
}

/// What a form asks for. `Err` where this model says nothing of it.
fn form(body: &[u8]) -> Result<Option<Wanted>, ()> {
    let fields = Fields::read(body);
    let given = fields.one("name").unwrap_or_default();
    let scopes: Option<Vec<_>> = fields.all("scope").into_iter().map(scope).collect();
    let (choice, date) = (fields.one("expires"), fields.one("date"));
    let expiry = choice.zip(date).and_then(|(choice, date)| expiry(choice, date));
    let has_nonce = fields.one("nonce").is_some_and(is_nonce);
    if is_doubtful(given) {
        return Err(());
    }
    let name = fields.one("name").and_then(name).filter(|_| has_nonce);
    Ok(wanted(name, scopes, expiry))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct NewKey {
    #[serde(default, deserialize_with = "present")]
    name: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    scopes: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    expires_at: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    nonce: Option<Value>,
}

/// A member that is there, whatever it is: null is something.
fn present<'j, D: Deserializer<'j>>(member: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(member).map(Some)
}

/// The same of a JSON body.
fn json(body: &[u8]) -> Result<Option<Wanted>, ()> {
    let is_object = serde_json::from_slice::<Value>(body).is_ok_and(|value| value.is_object());
    let Some(new) = serde_json::from_slice::<NewKey>(body).ok().filter(|_| is_object) else { return Ok(None) };
    let given = new.name.as_ref().and_then(Value::as_str);
    if given.is_some_and(is_doubtful) {
        return Err(());
    }
    let scopes = new.scopes.as_ref().and_then(Value::as_array);
    let scopes = scopes.and_then(|scopes| scopes.iter().map(|name| name.as_str().and_then(scope)).collect());
    let has_nonce = match &new.nonce {
        None | Some(Value::Null) => true,
        Some(nonce) => nonce.as_str().is_some_and(is_nonce),
    };
    let expiry = match &new.expires_at {
        Some(Value::Null) => Some(None),
        Some(Value::String(text)) => Timestamp::parse(text).ok().filter(|end| *end > clock()).map(Some),
        _ => None,
    };
    Ok(wanted(given.and_then(name).filter(|_| has_nonce), scopes, expiry))
}

fn wanted(
    name: Option<String>,
    scopes: Option<Vec<&'static str>>,
    expiry: Option<Option<Timestamp>>,
) -> Option<Wanted> {
    let mut scopes = scopes.filter(|scopes| !scopes.is_empty())?;
    scopes.sort_by_key(|scope| *scope == "read:courses");
    scopes.dedup();
    Some((name?, scopes, expiry?))
}

fn scope(name: &str) -> Option<&'static str> {
    ["read:profile", "read:courses"].into_iter().find(|scope| *scope == name)
}

fn check_created(world: &World, answer: &Response<Bytes>, wanted: Result<Option<Wanted>, ()>) {
    let made: Vec<CredentialRecord> =
        world.keys().into_iter().filter(|key| &*key.identity.credential_id != KEY).collect();
    let Ok(wanted) = wanted else { return };
    let Some((name, scopes, end)) = wanted else {
        assert_eq!((answer.status().as_u16(), made.len()), (400, 0), "{answer:?}");
        return;
    };
    assert_eq!((answer.status().as_u16(), made.len()), (201, 1), "{answer:?}");
    let granted: Vec<_> = made[0].identity.scopes.iter().map(Scope::name).collect();
    assert_eq!((made[0].name.as_deref(), granted, made[0].expires_at), (Some(&*name), scopes, end));
    let body = String::from_utf8_lossy(answer.body());
    assert!(body.contains("ccat_"), "the token is shown once: {body}");
}

fn check_renamed(world: &World, answer: &Response<Bytes>, name: Option<String>, is_known: bool) {
    let found = world.keys()[0].name.clone();
    if is_known {
        assert_eq!(answer.status(), if name.is_some() { 303 } else { 400 }, "{answer:?}");
        assert_eq!(found, Some(name.unwrap_or("old".to_owned())));
    }
}
