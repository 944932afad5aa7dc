//! Rejects cross-site requests, and adds security headers.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use catalogue_core::MountUrl;
use http::header::{HOST, ORIGIN};
use http::{HeaderMap, HeaderName, HeaderValue, Method, request};
use sha2::{Digest, Sha256};

use crate::body::{JSON, is_of_type};
use crate::failure::Failure;
use crate::urls::SettingsUrls;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// Headers of every response, in addition to the policy.
const HEADERS: [(&str, &str); 6] = [
    ("cache-control", "no-store"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    // Without a referrer, browsers send `Origin: null` with the settings' own forms.
    ("referrer-policy", "same-origin"),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
];

/// Rejects requests from pages of other sites, but not a browser that follows a link from such a page.
pub(crate) fn check(head: &request::Parts, settings: &MountUrl) -> Result<(), Failure> {
    let headers = &head.headers;
    let origin = single(headers, ORIGIN)?;
    if let Some(origin) = origin
        && !is_own_origin(origin, head, settings)?
    {
        return Err(Failure::CrossSite);
    }
    if matches!(head.method, Method::GET | Method::HEAD | Method::OPTIONS) {
        let is_embedded = headers.get(SEC_FETCH_DEST).is_some_and(|dest| dest != "document");
        let is_cross_site = headers.get(SEC_FETCH_SITE).is_some_and(|site| site == "cross-site");
        return if is_cross_site && is_embedded { Err(Failure::CrossSite) } else { Ok(()) };
    }
    let is_accepted = match single(headers, SEC_FETCH_SITE)? {
        Some(site) => matches!(site, "same-origin" | "none"),
        // A page of another origin cannot send this type without a preflight, which is never granted.
        None => origin.is_some() || is_of_type(headers, JSON),
    };
    if is_accepted { Ok(()) } else { Err(Failure::CrossSite) }
}

/// Returns whether `origin` is that of the settings; if only their path is known, whether it has the authority of the request.
fn is_own_origin(origin: &str, head: &request::Parts, settings: &MountUrl) -> Result<bool, Failure> {
    let own = settings.origin();
    if !own.is_empty() {
        return Ok(without_default_port(origin) == without_default_port(own));
    }
    let Some((scheme, _)) = origin.split_once("://") else { return Ok(false) };
    let own = authority(head)?.map(|authority| format!("{scheme}://{authority}"));
    Ok(own.is_some_and(|own| without_default_port(origin) == without_default_port(&own)))
}

/// Returns the authority of a request, from its target or its `Host`.
pub(crate) fn authority(head: &request::Parts) -> Result<Option<&str>, Failure> {
    let target_authority = head.uri.authority().map(http::uri::Authority::as_str);
    if target_authority.is_some() { Ok(target_authority) } else { single(&head.headers, HOST) }
}

pub(crate) fn without_default_port(origin: &str) -> String {
    let origin = origin.to_ascii_lowercase();
    let port = if origin.starts_with("https://") { ":443" } else { ":80" };
    origin.strip_suffix(port).map(str::to_owned).unwrap_or(origin)
}

/// Returns the value of a header that may occur only once.
fn single(headers: &HeaderMap, name: HeaderName) -> Result<Option<&str>, Failure> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value.to_str().map(Some).map_err(|_| Failure::CrossSite),
        (Some(_), Some(_)) => Err(Failure::CrossSite),
    }
}

/// Returns the Content Security Policy of pages with `style` and `script`.
pub(crate) fn policy(style: &str, script: &str, urls: &SettingsUrls) -> HeaderValue {
    let hash = |text: &str| format!("sha256-{}", STANDARD.encode(Sha256::digest(text)));
    let (style, script) = (hash(style), hash(script));
    let api = if urls.api_is_same_origin() { "" } else { urls.base.origin() };
    // A policy cannot contain an IPv6 address.
    let can_be_named = api.bytes().all(|byte| byte.is_ascii_alphanumeric() || b":/.-_~%".contains(&byte));
    let connect = if can_be_named { format!("'self' {api}") } else { "'self'".to_owned() };
    let connect = connect.trim_end();
    let policy = format!(
        "default-src 'none'; style-src '{style}'; script-src '{script}'; connect-src {connect}; img-src data:; \
         form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    );
    HeaderValue::try_from(policy).expect("URLs are visible ASCII")
}

/// Adds the headers of every response.
pub(crate) fn protect(headers: &mut HeaderMap, policy: &HeaderValue) {
    for (name, value) in HEADERS {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    headers.insert(http::header::CONTENT_SECURITY_POLICY, policy.clone());
}
