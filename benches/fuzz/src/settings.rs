//! Requests to the developer settings. An input is a method and a target, then the value of the `Cookie` field (a session's,
//! if it is empty), and then the body. `KEY` stands for the id of a key, `NONCE` for a current nonce, `CODE` for a code that
//! signs in, and `SECRET` for the secret of a session.

use std::time::Duration;

use bytes::Bytes;
use catalogue_core::admin::{Account, AdminStorage, CredentialRecord, NewCredential};
use catalogue_core::auth::{BearerToken, Scopes};
use catalogue_core::limit::{LocalRateLimiter, RateLimit};
use catalogue_core::storage::{Actor, KeyStorage, MemoryStorage, NewSession, NewSignIn, SignInStorage};
use catalogue_core::{AccountId, Timestamp};
use catalogue_settings::{DeveloperSettings, SignInSettings};
use http::{Request, Response};
use http_body_util::Full;
use serde_json::Value;

use super::call::{block_on, header};

const KEY: &str = "key_01912345678970008000000000000000";
const COOKIE: &str = "__Host-catalogue-settings-62abb396";
const SECRET: &str = "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2U";
const CODE: &str = "csin_0000000000000000000000000000000000000000000";

pub(super) fn check(input: &[u8]) {
    let nonce = format!("{:012x}70008000000000000000", clock().as_microseconds() / 1000);
    let text = String::from_utf8_lossy(input).replace("KEY", KEY).replace("NONCE", &nonce);
    let text = text.replace("CODE", CODE).replace("SECRET", SECRET);
    let mut parts = text.splitn(3, '\n');
    let (Some(head), Some(cookie), Some(body)) = (parts.next(), parts.next(), parts.next()) else { return };
    let Some((method, target)) = head.split_once(' ') else { return };
    let own = format!("{COOKIE}={SECRET}");
    let cookie = if cookie.is_empty() { &own } else { cookie };
    let is_json = target.starts_with("/settings/api/");
    let media_type = if is_json { "application/json" } else { "application/x-www-form-urlencoded" };
    let request = || {
        let request = Request::builder().method(method).uri(target).header("content-type", media_type);
        let request = request.header("sec-fetch-site", "same-origin").header("cookie", cookie);
        request.body(Full::new(Bytes::from(body.to_owned()))).ok()
    };
    let Some(first) = request() else { return };
    let fixture = Fixture::new();
    let first_response = fixture.send(first);
    let (status, keys) = (first_response.status().as_u16(), fixture.keys());
    for key in &keys {
        let name = key.name.as_deref().unwrap_or_default();
        assert!(!name.trim().is_empty() && name.chars().count() <= 100, "{text:?} {key:?}");
        assert!(!key.identity.scopes.is_empty() && key.expires_at.is_none_or(|end| end >= clock()), "{text:?} {key:?}");
    }
    let is_known = cookie.contains(SECRET);
    assert!(is_known || status != 200 || !target.starts_with("/settings/activity"), "{text:?}");
    assert!(!first_response.headers().contains_key("set-cookie") || body.contains(CODE) || is_known, "{text:?}");
    if method == "GET" || !is_known {
        assert!(keys.len() == 1 && keys[0].name.as_deref() == Some("old"), "{text:?}");
    }
    if method == "POST" && ["/settings/keys", "/settings/api/keys"].contains(&target) {
        let made: Vec<_> = keys.iter().filter(|key| &*key.identity.credential_id != KEY).collect();
        assert_eq!(made.len(), usize::from(status == 201), "{text:?} {first_response:?}");
        for key in made {
            assert_eq!(key.name, name(body, is_json), "{text:?}");
            assert!(key.expires_at.is_none_or(|end| end > clock()), "{text:?}");
            assert!(
                String::from_utf8_lossy(first_response.body()).contains("ccat_"),
                "the token is shown once: {first_response:?}"
            );
        }
        // A form that is sent twice creates one key.
        let has_nonce = !is_json || body.contains(&nonce);
        let again = fixture.send(request().expect("the same request"));
        assert!(!has_nonce || fixture.keys().len() == keys.len(), "{text:?} {again:?}");
    }
}

/// Returns the name in a body, as other parsers read it.
fn name(body: &str, is_json: bool) -> Option<String> {
    let name = match is_json {
        true => serde_json::from_str::<Value>(body).ok()?.get("name")?.as_str()?.to_owned(),
        false => form_urlencoded::parse(body.as_bytes()).find(|(field, _)| field == "name")?.1.into_owned(),
    };
    Some(name.trim().to_owned())
}

/// Returns the fixed current time.
fn clock() -> Timestamp {
    Timestamp::parse("2026-11-22T04:40:00Z").unwrap()
}

/// Developer settings over a storage with two accounts, at a fixed time.
struct Fixture {
    storage: MemoryStorage,
    settings: SignInSettings,
}

impl Fixture {
    fn new() -> Self {
        let (storage, anna) = (MemoryStorage::new(), AccountId::new("anna"));
        let mut import = block_on(storage.begin_import()).unwrap();
        for id in ["anna", "bert"] {
            let account = Account { id: AccountId::new(id), name: format!("<fuzz> {id}"), email: String::new() };
            block_on(import.put_account(&account)).unwrap();
        }
        block_on(import.commit()).unwrap();
        let (_, mut key) = NewCredential::api_key(anna.clone(), "old", Scopes::from_names(["read:courses"]));
        (key.record.identity.credential_id, key.record.created_at) = (KEY.into(), clock());
        block_on(storage.create_key(&key, &Actor::OPERATOR)).unwrap();
        let digest = |text: &str| BearerToken::new(text).unwrap().digest();
        let (created_at, expires_at) = (clock(), clock().checked_add(Duration::from_secs(60)).unwrap());
        for code in ["link", CODE] {
            let link = NewSignIn { digest: digest(code), account: anna.clone(), created_at, expires_at };
            block_on(storage.create_link(&link, &Actor::OPERATOR)).unwrap();
        }
        let session = NewSession { digest: digest(SECRET), created_at, expires_at };
        block_on(storage.exchange_link(&digest("link"), clock(), &session)).unwrap().expect("the link works");
        // A limit that no input reaches.
        let many = LocalRateLimiter::new(RateLimit::new(u32::MAX, Duration::from_secs(1)).unwrap());
        let builder = DeveloperSettings::builder(storage.clone()).clock(clock).rate_limiter(many);
        let settings = builder.settings_url("https://a.example/settings").build().unwrap();
        Self { settings: settings.with_sign_in(storage.clone()), storage }
    }

    fn send(&self, request: Request<Full<Bytes>>) -> Response<Bytes> {
        check_response(block_on(self.settings.call(request)))
    }

    /// Returns the keys of `anna`.
    fn keys(&self) -> Vec<CredentialRecord> {
        block_on(self.storage.list_keys(&AccountId::new("anna"), clock(), usize::MAX)).unwrap().unwrap()
    }
}

/// Asserts properties of every response.
fn check_response(response: Response<Bytes>) -> Response<Bytes> {
    let (status, headers) = (response.status(), response.headers());
    assert!(!status.is_server_error(), "{response:?}");
    let one = |name: &str| header(headers, name);
    assert_eq!((one("cache-control"), one("x-content-type-options")), (Some("no-store"), Some("nosniff")));
    assert!(one("content-security-policy").is_some_and(|policy| policy.starts_with("default-src 'none'; ")));
    assert!(one("x-request-id").is_some() && one("access-control-allow-origin").is_none());
    if let Some(location) = one("location") {
        let below = location.strip_prefix("/settings").expect("redirects stay in the settings");
        assert!(below.is_empty() || below.starts_with(['/', '?']), "{location}");
        assert!(location.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\'), "{location}");
    }
    let body = str::from_utf8(response.body()).expect("responses are text");
    match one("content-type").unwrap_or_default() {
        "application/json" => drop(serde_json::from_str::<Value>(body).expect("a JSON body")),
        // An input in the page opens no element and no attribute.
        _ => {
            // After an equals sign, the quotation mark opens an attribute's value, which may begin like this.
            let mut before = body.match_indices("\" fuzz=").map(|(at, _)| &body[..at]);
            assert!(!body.contains("<fuzz") && before.all(|before| before.ends_with('=')), "{body}");
        }
    }
    response
}
