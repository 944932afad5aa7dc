//! The path of a request (decisions R1, R3, R4, R6 and R12), at several mounts.

use std::sync::LazyLock;

use catalogue_core::Catalogue;
use http::header::HOST;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use super::ask::{ask_as, failure, get};
use super::echo::{Echo, caller};
use super::query::read;

/// Where a catalogue stands: its two addresses, and whether the root is its own.
type Mount = (&'static str, &'static str, bool);

const MOUNTS: [Mount; 4] =
    [("/api/v1", "/docs", true), ("", "/docs", false), ("/api/v1", "/api/v1/docs", false), ("/api/v1", "", true)];

static WORLD: LazyLock<Vec<(Mount, Catalogue)>> = LazyLock::new(|| {
    let build = |(base, docs, own_root): Mount| {
        let root = |path: &str| if path.is_empty() { "/".to_owned() } else { path.to_owned() };
        let builder = Echo::default().catalogue().base_url(root(base)).docs_url(root(docs));
        if own_root { builder.own_root().build() } else { builder.build() }.unwrap()
    };
    MOUNTS.into_iter().map(|mount| (mount, build(mount))).collect()
});

/// What stands at a path.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Place {
    Document(&'static str),
    Me,
    OpenApi,
    Courses,
    Course(Option<String>),
    /// Below the base address, and nothing.
    Unknown,
    Root,
    /// Nothing of the API's.
    Outside,
    /// The same below the address of the documents.
    UnknownDocument,
}

pub fn check(input: &[u8]) {
    let Ok(path) = str::from_utf8(input) else { return };
    check_path(path);
    // And as the one course of that name.
    check_path(&format!("/api/v1/courses/{}", utf8_percent_encode(path, NON_ALPHANUMERIC)));
}

fn check_path(path: &str) {
    let Some(request) = get(path, &HOST, &[]) else { return };
    for (mount, catalogue) in WORLD.iter() {
        let place = place(*mount, request.uri().path());
        let response = ask_as(caller(), catalogue, request.clone());
        let wanted = match &place {
            Place::Unknown | Place::UnknownDocument | Place::Outside | Place::Root | Place::Course(None) => 404,
            Place::Courses if read(request.uri().query().unwrap_or_default()).is_err() => 400,
            _ => 200,
        };
        assert_eq!(failure(&response).0, wanted, "{path:?} {mount:?} {place:?}");
        match place {
            Place::Course(Some(slug)) => {
                let body: Value = serde_json::from_slice(response.body()).unwrap();
                assert!(["slug", "title", "language"].iter().all(|name| body["data"][name] == *slug), "{body}");
            }
            Place::Document(media) => assert_eq!(response.headers()["content-type"], media),
            _ => {}
        }
    }
}

/// What a path means at a mount. The address that is nearer decides where both are above it.
pub(super) fn place((base, docs, own_root): Mount, path: &str) -> Place {
    let below = |address: &str| match path.strip_prefix(address) {
        Some(rest) if rest.starts_with('/') || (rest.is_empty() && !address.is_empty()) => Some(rest),
        _ => None,
    };
    let document = |name: &str| match name {
        "" | "/" => Some("text/html; charset=utf-8"),
        "/openapi.json" | "/openapi-3.0.json" => Some("application/json"),
        "/openapi.md" => Some("text/markdown; charset=utf-8"),
        "/llms.txt" => Some("text/plain; charset=utf-8"),
        _ => None,
    };
    if let Some(media) = below(docs).and_then(document) {
        return Place::Document(media);
    }
    let operation = |rest: &str| match rest {
        "/me" => Some(Place::Me),
        "/openapi.json" => Some(Place::OpenApi),
        "/courses" => Some(Place::Courses),
        _ => {
            let segment = rest.strip_prefix("/courses/").filter(|it| !it.is_empty() && !it.contains('/'))?;
            Some(Place::Course(slug(segment)))
        }
    };
    match (below(base), below(docs)) {
        (Some(rest), _) if operation(rest).is_some() => operation(rest).unwrap_or(Place::Unknown),
        (Some(_), Some(_)) if base.len() > docs.len() => Place::Unknown,
        (_, Some(_)) => Place::UnknownDocument,
        (Some(_), None) => Place::Unknown,
        (None, None) if own_root && path == "/" => Place::Root,
        (None, None) if own_root && path == "/llms.txt" => Place::Document("text/plain; charset=utf-8"),
        (None, None) => Place::Outside,
    }
}

/// A segment decoded once, where a course can have that name.
fn slug(segment: &str) -> Option<String> {
    let (mut bytes, mut rest) = (Vec::new(), segment.as_bytes());
    while let [first, more @ ..] = rest {
        rest = more;
        bytes.push(match (first, more) {
            (b'%', [high, low, more @ ..]) => {
                rest = more;
                let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
                digit(*high)? * 16 + digit(*low)?
            }
            (b'%', _) => return None,
            (byte, _) => *byte,
        });
    }
    let slug = String::from_utf8(bytes).ok()?;
    let fits = (1..=200).contains(&slug.len()) && !slug.contains(|c: char| c == '/' || c.is_control());
    fits.then_some(slug)
}
