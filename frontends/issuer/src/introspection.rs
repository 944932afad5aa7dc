//! [`Introspection`]: introspects an issuer's opaque tokens (decisions O35 to O38).

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use catalogue_core::async_trait;
use catalogue_core::auth::introspected::Introspect;
use catalogue_core::storage::{StorageError, StorageErrorKind};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Request};

use crate::client::{self, HttpClient, NoCertificates};
use crate::exchange::{exchange, with_timeout};
use crate::url::IssuerUrl;

/// Timeout for the issuer's response.
const INTROSPECTION_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum length of a response, in bytes.
const MAX_RESPONSE_BYTES: usize = 64 << 10;

/// Client id and secret with which the catalogue authenticates to the issuer. The `Debug` output is redacted.
#[derive(Clone, Debug)]
pub struct ClientCredentials(HeaderValue);

/// Client for token introspection (RFC 7662). Needs a Tokio runtime.
#[derive(Debug)]
pub struct Introspection {
    endpoint: IssuerUrl,
    credentials: ClientCredentials,
    client: HttpClient,
}

impl ClientCredentials {
    /// Creates credentials that are sent by HTTP Basic (RFC 6749 section 2.3.1).
    pub fn new(id: &str, secret: &str) -> Self {
        let mut authorization = basic(id, secret);
        authorization.set_sensitive(true);
        Self(authorization)
    }
}

impl Introspection {
    /// Creates a client for `endpoint`, the `introspection_endpoint` in the issuer's metadata. Sends no request yet.
    ///
    /// # Errors
    /// Returns an error if `endpoint` uses TLS and no CA certificate of the system can be read.
    pub fn new(endpoint: IssuerUrl, credentials: ClientCredentials) -> Result<Self, NoCertificates> {
        let client = client::issuer_client(endpoint.is_secured())?;
        Ok(Self { endpoint, credentials, client })
    }
}

#[async_trait]
impl Introspect for Introspection {
    async fn introspect(&self, token: &str) -> Result<Bytes, StorageError> {
        let request = Request::post(self.endpoint.uri())
            .header(AUTHORIZATION, &self.credentials.0)
            .header(ACCEPT, "application/json")
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        let form = format!("token={}&token_type_hint=access_token", form_encode(token));
        let response =
            with_timeout(INTROSPECTION_TIMEOUT, exchange(&self.client, request, form.into(), MAX_RESPONSE_BYTES)).await;
        let failed = |why| StorageError::new(StorageErrorKind::Unavailable, format!("{}: {why}", self.endpoint));
        response.map(|(body, _)| body).map_err(failed)
    }
}

fn basic(id: &str, secret: &str) -> HeaderValue {
    let basic = STANDARD.encode(format!("{}:{}", form_encode(id), form_encode(secret)));
    HeaderValue::from_str(&format!("Basic {basic}")).expect("visible ASCII")
}

/// Encodes `text` as a value of a form, and as RFC 6749 section 2.3.1 requires for a client's id and secret.
fn form_encode(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric().then(|| char::from(byte).to_string());
    text.bytes().map(|byte| plain(byte).unwrap_or_else(|| format!("%{byte:02X}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first text is the example of RFC 6749 appendix B, which encodes the space as `+`; `%20` means the same.
    #[test]
    fn texts_are_form_encoded() {
        assert_eq!(form_encode(" %&+£€"), "%20%25%26%2B%C2%A3%E2%82%AC");
        assert_eq!(form_encode("AZaz09"), "AZaz09");
    }

    #[test]
    fn debug_output_is_redacted() {
        let text = format!("{:?}", ClientCredentials::new("c", "hunter2"));
        assert!(!text.contains("hunter2") && !text.contains(&STANDARD.encode("c:hunter2")), "{text}");
    }
}
