//! `Cookie`, a line of it on each line of the input. `SECRET` stands for that of a session.

use std::sync::LazyLock;

use catalogue_core::AccountId;
use catalogue_core::auth::BearerToken;
use catalogue_core::storage::Actor;
use catalogue_core::storage::{NewSession, NewSignIn, SignInStorage};
use catalogue_settings::SignInSettings;
use http::header::{COOKIE, LOCATION, SET_COOKIE};
use http::{HeaderValue, Request};
use http_body_util::Empty;

use super::world::{World, check as check_answer, clock, now};

const NAMES: [&str; 2] = ["__Host-catalogue-settings-62abb396", "catalogue-settings-62abb396"];
/// Of longer fields none is read.
const MAX_FIELDS: usize = 16 << 10;
const SECRET: &str = "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2U";

/// Settings over TLS, and without.
static WORLD: LazyLock<[SignInSettings; 2]> = LazyLock::new(|| {
    let (world, digest) = (World::new(), |text: &str| BearerToken::new(text).unwrap().digest());
    let end = clock().checked_add(std::time::Duration::from_secs(60)).unwrap();
    let link =
        NewSignIn { digest: digest("link"), account: AccountId::new("anna"), created_at: clock(), expires_at: end };
    now(world.storage.create_link(&link, &Actor::OPERATOR)).unwrap();
    let session = NewSession { digest: digest(SECRET), created_at: clock(), expires_at: end };
    now(world.storage.exchange_link(&link.digest, clock(), &session)).unwrap().expect("the link works");
    let settings = world.settings.with_sign_in(world.storage.clone());
    [settings.clone(), settings.without_tls()]
});

pub fn check(input: &[u8]) {
    let text: Vec<u8> = input.split(|byte| *byte == b'\n').collect::<Vec<_>>().join(&b'\n');
    let lines = String::from_utf8_lossy(&text).into_owned();
    let raw: Vec<HeaderValue> = if lines.contains("SECRET") {
        lines
            .replace("SECRET", SECRET)
            .lines()
            .filter_map(|line| HeaderValue::from_bytes(line.trim().as_bytes()).ok())
            .collect()
    } else {
        input.split(|byte| *byte == b'\n').filter_map(|line| HeaderValue::from_bytes(line.trim_ascii()).ok()).collect()
    };
    for (settings, name) in WORLD.iter().zip(NAMES) {
        let mut request = Request::get("/settings/activity").body(Empty::<&[u8]>::new()).unwrap();
        for value in &raw {
            request.headers_mut().append(COOKIE, value.clone());
        }
        let answer = check_answer(now(settings.call(request)));
        let location = answer.headers().get(LOCATION).map(|value| value.to_str().unwrap());
        match value(&raw, name) {
            Some(secret) if secret == SECRET.as_bytes() => assert_eq!(answer.status(), 200, "{raw:?}"),
            Some(_) => {
                assert_eq!(location, Some("/settings/sign-in?next=%2Fsettings%2Factivity&why=revoked"), "{raw:?}");
            }
            None => assert_eq!(location, Some("/settings/sign-in?next=%2Fsettings%2Factivity"), "{raw:?}"),
        }
        assert!(!answer.headers().contains_key(SET_COOKIE), "{raw:?}");
    }
}

/// The value of the cookie of that name, where it comes once (RFC 6265 section 5.4 writes pairs with semicolons).
fn value<'v>(lines: &'v [HeaderValue], name: &str) -> Option<&'v [u8]> {
    if lines.iter().map(HeaderValue::len).sum::<usize>() > MAX_FIELDS {
        return None;
    }
    let pairs = lines.iter().flat_map(|line| line.as_bytes().split(|byte| *byte == b';'));
    let mut values = pairs.filter_map(|pair| {
        let at = pair.iter().position(|byte| *byte == b'=')?;
        (pair[..at].trim_ascii_start() == name.as_bytes()).then(|| pair[at + 1..].trim_ascii_end())
    });
    values.next().filter(|_| values.next().is_none())
}
