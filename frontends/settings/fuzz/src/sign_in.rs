//! The form that signs in, whose `next` leads back to a page of the settings and nowhere else. `CODE` stands for a code that
//! works.

use bytes::Bytes;
use catalogue_core::storage::{Actor, SignInStorage};
use catalogue_core::{AccountId, Address};
use catalogue_settings::{DEFAULT_LINK_LIFETIME, SignInLink};
use http::Request;
use http::header::{LOCATION, SET_COOKIE};
use http_body_util::Full;

use super::model::Fields;
use super::world::{World, check as check_answer, clock, now};

pub fn check(input: &[u8]) {
    let world = World::new();
    let settings = world.settings.with_sign_in(world.storage.clone());
    let url = Address::parse("https://a.example/settings").unwrap();
    let (link, kept) = SignInLink::mint(AccountId::new("anna"), &url, clock(), DEFAULT_LINK_LIFETIME);
    now(world.storage.create_link(&kept, &Actor::OPERATOR)).unwrap();
    let body = String::from_utf8_lossy(input).replace("CODE", link.code());
    let ask = || {
        let request = Request::post("/settings/sign-in").header("content-type", "application/x-www-form-urlencoded");
        let request = request.header("sec-fetch-site", "same-origin").body(Full::new(Bytes::from(body.clone())));
        check_answer(now(settings.call(request.unwrap())))
    };
    let answer = ask();
    if body.len() > 16 << 10 {
        assert_eq!(answer.status(), 413);
        return;
    }
    let fields = Fields::read(body.as_bytes());
    let code = fields.one("code").map(|code| code.rsplit_once('#').map_or(code, |(_, code)| code).trim());
    let is_right = code == Some(link.code());
    assert_eq!(answer.headers().contains_key(SET_COOKIE), is_right, "{body:?}");
    let status = if is_right {
        303
    } else if code.is_none() {
        400
    } else {
        401
    };
    assert_eq!(answer.status(), status, "{body:?}");
    if is_right {
        let (next, location) =
            (fields.all("next").first().copied().unwrap_or_default().to_owned(), &answer.headers()[LOCATION]);
        assert!(location == "/settings" || *location == next, "{body:?} {location:?}");
        assert_eq!(ask().status(), 401, "a code signs in once");
    }
}
