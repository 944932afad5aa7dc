//! The query parameter `cursor` (decision R8). The first letter of an input defines the rest: `t` precedes the parameter's
//! text, `s` content to seal, which needs no secret, and `p` the time, in eight bytes, and the slug of a page's last course.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use catalogue_core::Timestamp;
use catalogue_core::storage::{Limit, Position};
use http::Response;
use http::header::{HOST, LINK};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::call::{ACCOUNT, call_as, failure, get, header};
use super::echo::{FIXTURE, caller};

pub(super) fn check(input: &[u8]) {
    match input {
        [b't', text @ ..] => check_text(&String::from_utf8_lossy(text)),
        [b's', content @ ..] => check_text(&seal(ACCOUNT, content)),
        [b'p', course @ ..] => check_page(course),
        _ => {}
    }
}

/// Asserts that a text is accepted if it is the cursor of a position, and gets a 400 otherwise.
fn check_text(text: &str) {
    let (echo, _) = &*FIXTURE;
    echo.set_list(Vec::new());
    let Some(response) = list(text, "") else { return };
    let page = echo.page();
    match decode_cursor(text) {
        Some(position) => {
            assert_eq!(failure(&response).0, 200, "{position:?}");
            assert_eq!(page.and_then(|page| page.after), Some(position));
        }
        None => {
            let details = json!({ "parameter": "cursor", "reason": "invalid" });
            assert_eq!(failure(&response), (400, Some("invalid_request".to_owned()), details));
            assert_eq!(page, None);
        }
    }
}

/// Asserts that a page's cursor is the sealed position of its last course, is in its link, and leads only to that position.
fn check_page(course: &[u8]) {
    let content = [&[1], course].concat();
    let Some(position) = position(&content) else { return };
    let (echo, _) = &*FIXTURE;
    echo.set_list(vec![position.clone(), Position { created_at: Timestamp::MIN, slug: "last".to_owned() }]);
    let response = list("", "limit=1").expect("a valid request");
    let body: Value = serde_json::from_slice(response.body()).unwrap();
    let next = seal(ACCOUNT, &content);
    let (text, title) = (position.slug.as_str(), position.slug.as_str());
    let row = json!({
        "slug": text, "title": title, "language": text, "publishedAt": null, "hidden": true, "moduleCount": 7,
    });
    assert_eq!(body, json!({ "data": [row], "meta": { "nextCursor": next } }));
    let link = header(response.headers(), LINK).expect("a link to the next page");
    assert!(link.contains(&*next) && link.contains("limit=1") && link.ends_with(r#">; rel="next""#), "{link}");
    assert_eq!(echo.page().map(|page| page.limit.get()), Some(Limit::MIN.get()));
    check_text(&next);
    check_text(&seal("acc_other", &content));
    let last = next.len() - 1;
    for other in ["A", "B", "_"].iter().filter(|other| !next.ends_with(**other)) {
        check_text(&format!("{}{other}", &next[..last]));
    }
}

fn list(cursor: &str, more: &str) -> Option<Response<Bytes>> {
    let mut query = form_urlencoded::Serializer::new(more.to_owned());
    if more.is_empty() {
        query.append_pair("cursor", cursor);
    }
    let request = get(&format!("/api/v1/courses?{}", query.finish()), &HOST, &[])?;
    Some(call_as(caller(), &FIXTURE.1, request))
}

/// Returns the position that a text encodes for this account, without the core's code: sealing it again must yield the text.
pub(super) fn decode_cursor(text: &str) -> Option<Position> {
    let content = URL_SAFE_NO_PAD.decode(text).ok()?;
    let content = content.get(..content.len().checked_sub(16)?)?;
    (text.len() <= 512 && seal(ACCOUNT, content) == text).then(|| position(content))?
}

/// Parses layout 1: microseconds since 1970, and a slug.
fn position(content: &[u8]) -> Option<Position> {
    let [1, a, b, c, d, e, f, g, h, slug @ ..] = content else { return None };
    let slug = str::from_utf8(slug).ok()?;
    let is_slug = (1..=200).contains(&slug.len()) && !slug.contains(|c: char| c == '/' || c.is_control());
    let created_at = Timestamp::from_microseconds(i64::from_be_bytes([*a, *b, *c, *d, *e, *f, *g, *h]))?;
    is_slug.then(|| Position { created_at, slug: slug.to_owned() })
}

fn seal(account: &str, content: &[u8]) -> String {
    let mut sealed = b"catalogue cursor\0".to_vec();
    sealed.extend((account.len() as u64).to_be_bytes());
    sealed.extend(account.as_bytes());
    sealed.extend(content);
    let digest = Sha256::digest(&sealed);
    URL_SAFE_NO_PAD.encode([content, &digest[..16]].concat())
}
