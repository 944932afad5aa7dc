//! The Content Security Policy of the reference page, which allows its own style, script and icon, and requests to the API.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;
use sha2::{Digest, Sha256};

use crate::mount_url::MountUrl;

/// Returns the policy of the page at `docs` with this style and script, for an API at `base`.
pub(super) fn of(style: &str, script: &str, base: &MountUrl, docs: &MountUrl) -> HeaderValue {
    let (style, script) = (hash(style), hash(script));
    let api = api(base.origin(), docs.origin());
    let policy = format!(
        "default-src 'none'; style-src '{style}'; script-src '{script}'; connect-src {api}; img-src data:; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'"
    );
    HeaderValue::try_from(policy).expect("URLs are visible ASCII")
}

fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

/// Returns the sources to which the page may send requests. A policy cannot name an IPv6 address, so `'self'` is included
/// if the API has the page's own origin.
fn api(base: &str, docs: &str) -> String {
    let can_be_named = base.bytes().all(|b| b.is_ascii_alphanumeric() || b":/.-_~%".contains(&b));
    match (can_be_named && !base.is_empty(), base.is_empty() || base == docs) {
        (true, true) => format!("'self' {base}"),
        (true, false) => base.to_owned(),
        (false, true) => "'self'".to_owned(),
        (false, false) => "'none'".to_owned(),
    }
}
