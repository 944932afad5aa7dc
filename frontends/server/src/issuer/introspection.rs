//! [`Introspection`]: how the issuer is asked about its opaque tokens (decisions O35 to O38).

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use catalogue_core::async_trait;
use catalogue_core::auth::introspected::{Introspect, IntrospectedTokens};
use catalogue_core::auth::signed::SignedTokens;
use catalogue_core::storage::{StorageError, StorageErrorKind};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Request, Uri};
use tokio::time::timeout;

use super::fetch::exchange;
use crate::client::{self, HttpClient};
use crate::exit::Failure;
use crate::settings::table::*;
use crate::settings::{Setting, Settings};
use crate::units;

/// How long the issuer may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// Where the issuer is asked, and by whom.
#[derive(Clone, Debug)]
pub(super) struct Introspection {
    endpoint: Uri,
    authorization: HeaderValue,
    keep: Duration,
}

#[derive(Debug)]
struct Introspector(Introspection, HttpClient);

impl Introspection {
    pub(super) fn read(settings: &Settings) -> Option<Self> {
        let [id, secret] = [&OAUTH_CLIENT_ID, &OAUTH_CLIENT_SECRET].map(|text| settings.given(text));
        let (endpoint, keep) = (settings.given(&OAUTH_INTROSPECTION), settings.get(&OAUTH_INTROSPECTION_CACHE));
        let (Some(endpoint), Some(id), Some(secret)) = (endpoint, id, secret) else {
            let all: [&Setting; 4] =
                [&OAUTH_INTROSPECTION, &OAUTH_CLIENT_ID, &OAUTH_CLIENT_SECRET, &OAUTH_INTROSPECTION_CACHE];
            let given: Vec<_> = all.into_iter().filter(|setting| settings.is_given(setting)).collect();
            if !given.is_empty() {
                let all = "--oauth-introspection URL, --oauth-client-id ID and --oauth-client-secret file:PATH";
                settings.conflict(&given, &[], &format!("to ask the issuer about opaque tokens, write all of {all}"));
            }
            return None;
        };
        let basic = STANDARD.encode(format!("{}:{}", encoded(&id), encoded(&secret)));
        let mut authorization = HeaderValue::from_str(&format!("Basic {basic}")).expect("visible ASCII");
        authorization.set_sensitive(true);
        Some(Self { endpoint, authorization, keep })
    }

    pub(super) fn tokens(&self, signed: &SignedTokens) -> Result<Arc<IntrospectedTokens>, Failure> {
        let client = client::client(self.endpoint.scheme_str() == Some("https"), "the issuer of tokens")?;
        let tokens = IntrospectedTokens::of(signed, Introspector(self.clone(), client));
        Ok(Arc::new(tokens.keep(self.keep)))
    }
}

#[async_trait]
impl Introspect for Introspector {
    async fn introspect(&self, token: &str) -> Result<Bytes, StorageError> {
        let Self(Introspection { endpoint, authorization, .. }, client) = self;
        let request = Request::post(endpoint)
            .header(AUTHORIZATION, authorization)
            .header(ACCEPT, "application/json")
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        let form = format!("token={}&token_type_hint=access_token", encoded(token));
        let answer = timeout(PATIENCE, exchange(client, request, form.into())).await;
        let answer = answer.unwrap_or_else(|_| Err(format!("no answer within {PATIENCE:?}")));
        let failed = |why| StorageError::new(StorageErrorKind::Unavailable, format!("{endpoint}: {why}"));
        answer.map(|answer| answer.body).map_err(failed)
    }
}

/// The text as a form has values, and RFC 6749 section 2.3.1 a client's id and secret.
fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric().then(|| char::from(byte).to_string());
    text.bytes().map(|byte| plain(byte).unwrap_or_else(|| format!("%{byte:02X}"))).collect()
}

/// Reads how long accepted tokens are kept (decision O37).
pub(crate) fn cache_time(text: &str) -> Result<Duration, String> {
    let time = units::duration(text)?;
    let wrong = || format!("{text:?} is too long for a token that may be revoked meanwhile; write at most 60s");
    if time.as_secs() > 60 { Err(wrong()) } else { Ok(time) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 6749 appendix B.
    #[test]
    fn texts_are_encoded_as_a_form_has_them() {
        assert_eq!(encoded(" %&+£€"), "%20%25%26%2B%C2%A3%E2%82%AC");
        assert_eq!(encoded("AZaz09"), "AZaz09");
    }

    #[test]
    fn a_minute_is_the_most_that_a_token_is_kept() {
        assert_eq!(["0s", "10s", "1m"].map(cache_time), [0, 10, 60].map(|seconds| Ok(Duration::from_secs(seconds))));
        assert!(cache_time("61s").unwrap_err().contains("at most 60s") && cache_time("x").is_err());
    }
}
