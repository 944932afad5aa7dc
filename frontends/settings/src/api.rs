//! The settings as JSON.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use catalogue_core::Timestamp;
use catalogue_core::admin::CredentialRecord;
use http::{Response, StatusCode};
use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::{Value, json};

use crate::call::{Call, CreatedKey, MAX_EVENTS};
use crate::failure::Failure;
use crate::input::{self, FieldError, NewKey, Reason};
use crate::key::hints;
use crate::nonce::Nonce;
use crate::response;
use crate::route::{Action, RouteMatch};

/// Maximum time that an old key may remain valid after its rotation, in seconds.
const MAX_OVERLAP_SECONDS: u64 = 30 * 24 * 60 * 60;

pub(crate) async fn respond(call: Call<'_>, found: &RouteMatch, body: &[u8]) -> Result<Response<Bytes>, Failure> {
    let fields = |known: &[&str]| Fields::parse(body, known);
    let id = found.id.as_str();
    let mut status = StatusCode::OK;
    let data = match found.action {
        Action::ListKeys => {
            let keys = call.keys().await?;
            keys.iter().map(|key| view(key, &keys, call.now)).collect()
        }
        Action::CreateKey => {
            let fields = fields(&["name", "scopes", "expiresAt", "nonce"])?;
            let created = call.create(new_key(&fields, call.now)?, nonce(&fields, call.now)?).await?;
            status = StatusCode::CREATED;
            created_view(call, &created)
        }
        Action::ShowKey => {
            let key = call.key(id).await?;
            view(&key, &call.keys().await?, call.now)
        }
        Action::RenameKey => {
            let name = input::name(fields(&["name"])?.text("name")?)?;
            // Anything that can fail must fail before the change.
            let keys = call.keys().await?;
            view(&call.rename(id, &name).await?, &keys, call.now)
        }
        Action::RotateKey => {
            let fields = fields(&["overlapSeconds", "nonce"])?;
            let created = call.rotate(id, overlap(&fields)?, nonce(&fields, call.now)?).await?;
            status = StatusCode::CREATED;
            created_view(call, &created)
        }
        Action::RevokeKey => {
            fields(&[])?;
            view(&call.revoke(id).await?, &[], call.now)
        }
        Action::Check => {
            let checked = call.check(fields(&["token"])?.text("token")?.trim()).await?;
            let keys = if checked.key.is_some() { call.keys().await? } else { Vec::new() };
            let key = checked.key.as_ref().map(|key| view(key, &keys, call.now));
            json!({ "kind": checked.kind.map(catalogue_core::auth::CredentialKind::name), "key": key })
        }
        Action::Activity => json!(call.events(MAX_EVENTS).await?),
        _ => return Err(Failure::NotFound),
    };
    Ok(response::json(status, &json!({ "data": data })))
}

pub(crate) fn failure(failure: &Failure, request_id: &str) -> Response<Bytes> {
    let mut error = json!({ "code": failure.code().as_str(), "message": failure.sentence() });
    if let Some(details) = failure.details(request_id) {
        error["details"] = details;
    }
    response::json(failure.status(), &json!({ "error": error }))
}

fn view(key: &CredentialRecord, keys: &[CredentialRecord], now: Timestamp) -> Value {
    let CredentialRecord {
        identity,
        name,
        shown_prefix,
        created_at,
        expires_at,
        revoked_at,
        last_used_at,
        replaced_by,
    } = key;
    json!({
        "id": &*identity.credential_id,
        "kind": identity.kind.name(),
        "name": name,
        "prefix": shown_prefix,
        "scopes": identity.scopes,
        "createdAt": created_at,
        "lastUsedAt": last_used_at,
        "expiresAt": expires_at,
        "revokedAt": revoked_at,
        "replacedBy": replaced_by.as_deref(),
        "state": key.state(now).name(),
        "hints": hints(key, keys, now),
    })
}

/// Returns a new key with its token, which is never shown again.
fn created_view(call: Call<'_>, created: &CreatedKey) -> Value {
    let mut data = view(&created.key, &[], call.now);
    data["token"] = created.token.expose().into();
    if let Some(old) = &created.replaces {
        data["replaces"] = json!({ "id": &*old.identity.credential_id, "expiresAt": old.expires_at });
    }
    data
}

fn new_key(fields: &Fields, now: Timestamp) -> Result<NewKey, FieldError> {
    let name = input::name(fields.text("name")?)?;
    let scopes = fields.value("scopes")?.as_array().ok_or_else(|| Reason::Unknown.of("scopes"))?;
    let names: Option<Vec<&str>> = scopes.iter().map(Value::as_str).collect();
    let scopes = names.ok_or(Reason::UnknownScope).and_then(input::scopes).map_err(|reason| reason.of("scopes"))?;
    let expires_at = match fields.value("expiresAt")? {
        Value::Null => None,
        value => {
            let time = value.as_str().and_then(|text| Timestamp::parse(text).ok()).ok_or(Reason::NotATime);
            Some(time.and_then(|time| input::in_future(time, now)).map_err(|reason| reason.of("expiresAt"))?)
        }
    };
    Ok(NewKey { name, scopes, expires_at })
}

/// Returns the client's nonce, or a new one.
fn nonce(fields: &Fields, now: Timestamp) -> Result<Nonce, FieldError> {
    match fields.value("nonce") {
        Err(_) | Ok(Value::Null) => Ok(Nonce::fresh(now)),
        Ok(_) => Nonce::parse(fields.text("nonce")?, now),
    }
}

fn overlap(fields: &Fields) -> Result<Duration, FieldError> {
    let seconds = fields.value("overlapSeconds")?.as_u64().filter(|seconds| *seconds <= MAX_OVERLAP_SECONDS);
    seconds.map(Duration::from_secs).ok_or_else(|| Reason::OutOfRange.of("overlapSeconds"))
}

/// Properties of an object, none of them unknown or repeated: with a mistyped `nonce`, a retry would create a second key.
struct Fields(Vec<(String, Value)>);

impl Fields {
    fn parse(body: &[u8], known: &[&str]) -> Result<Self, FieldError> {
        let mut json = serde_json::Deserializer::from_slice(body);
        let fields = json.deserialize_map(Self(Vec::new())).and_then(|fields| json.end().map(|()| fields));
        let fields = fields.map_err(|_| Reason::Unknown.of("body"))?;
        for (at, (name, _)) in fields.0.iter().enumerate() {
            if !known.contains(&name.as_str()) {
                return Err(Reason::Unknown.of(name.clone()));
            }
            if fields.0[..at].iter().any(|(earlier, _)| earlier == name) {
                return Err(Reason::Repeated.of(name.clone()));
            }
        }
        Ok(fields)
    }

    fn value(&self, name: &'static str) -> Result<&Value, FieldError> {
        let found = self.0.iter().find(|(property, _)| property == name);
        found.map(|(_, value)| value).ok_or_else(|| Reason::Missing.of(name))
    }

    fn text(&self, name: &'static str) -> Result<&str, FieldError> {
        self.value(name)?.as_str().ok_or_else(|| Reason::Unknown.of(name))
    }
}

/// Adds the properties in order. A map would keep only the last of two with the same name.
impl<'de> Visitor<'de> for Fields {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Self, A::Error> {
        while let Some(property) = map.next_entry()? {
            self.0.push(property);
        }
        Ok(self)
    }
}
