//! [`IssuerOptions`]: which issuer's tokens are accepted, and their requirements.

use std::sync::Arc;
use std::time::Duration;

use catalogue_core::auth::introspected::IntrospectedTokens;
use catalogue_core::auth::signed::{FetchKeys, SignatureAlgorithm, SignedTokens, TokenType};
use catalogue_core::storage::MemoryStorage;
use catalogue_core::{BuildError, Catalogue};
use catalogue_issuer::{ClientCredentials, Introspection, IssuerKeys, IssuerUrl, KeySource};

use super::IssuerTokens;
use crate::exit::Failure;
use crate::settings::table::*;
use crate::settings::{Setting, Settings};

/// Options of `serve` about an issuer.
#[derive(Debug)]
pub(crate) struct IssuerOptions {
    pub(crate) issuer: String,
    pub(crate) audience: String,
    pub(crate) keys: KeySource,
    algorithms: Vec<SignatureAlgorithm>,
    pub(crate) account_claim: String,
    scope_prefix: String,
    pub(crate) token_type: TokenType,
    /// Introspection endpoint for opaque tokens, the client credentials for it, and the cache TTL (decisions O35 to O38).
    introspection: Option<(IssuerUrl, ClientCredentials, Duration)>,
}

impl IssuerOptions {
    /// Reads the options; `base_url` is where clients find the API.
    pub(crate) fn read(settings: &Settings, base_url: &str) -> Option<Self> {
        let Some(issuer) = settings.given(&OAUTH_ISSUER) else {
            let others = all().filter(|setting| setting.name.starts_with("oauth-"));
            let unused: Vec<_> = others.filter(|setting| settings.is_given(setting)).collect();
            if !unused.is_empty() {
                let what = "no effect without an issuer; set one, like --oauth-issuer https://id.example.com";
                settings.conflict(&unused, &what);
            }
            return None;
        };
        let keys = settings.given(&OAUTH_KEYS);
        if let (None, Err(error)) = (&keys, discoverable(&issuer)) {
            let what = format!("{error}; an issuer in another form needs --oauth-keys");
            settings.conflict(&[&OAUTH_ISSUER], &what);
        }
        let audience = settings.given(&OAUTH_AUDIENCE).unwrap_or_else(|| {
            if base_url.starts_with('/') {
                let what = "the audience of tokens is unknown; set --oauth-audience, or an absolute --base-url";
                settings.conflict(&[&OAUTH_ISSUER], &what);
            }
            base_url.to_owned()
        });
        Some(Self {
            issuer,
            audience,
            keys: keys.unwrap_or(KeySource::Metadata),
            algorithms: settings.get(&OAUTH_ALGORITHMS),
            account_claim: settings.get(&OAUTH_ACCOUNT_CLAIM),
            scope_prefix: settings.given(&OAUTH_SCOPE_PREFIX).unwrap_or_default(),
            token_type: settings.get(&OAUTH_TOKEN_TYPE),
            introspection: introspection(settings),
        })
    }

    /// Creates the client that fetches the keys.
    ///
    /// # Errors
    /// Returns a failure if the system's CA certificates, which authenticate the issuer, cannot be read.
    pub(super) fn source(&self) -> Result<IssuerKeys, Failure> {
        IssuerKeys::new(&self.issuer, self.keys.clone()).map_err(Failure::from)
    }

    /// Returns the maximum interval between fetches of the keys; a response over the network states its own.
    pub(crate) fn interval(&self) -> Duration {
        if let KeySource::File(_) = self.keys { Duration::from_secs(60) } else { Duration::MAX }
    }

    /// Creates the authenticators, which fetch the keys when needed.
    ///
    /// # Errors
    /// Returns the failures of [`source`](Self::source) and [`tokens_by`](Self::tokens_by).
    pub(crate) fn tokens(&self) -> Result<IssuerTokens, Failure> {
        let signed = self.tokens_by(self.source()?)?;
        let opaque = match &self.introspection {
            Some((endpoint, credentials, cache_ttl)) => {
                let introspection = Introspection::new(endpoint.clone(), credentials.clone())?;
                Some(Arc::new(IntrospectedTokens::of(&signed, introspection).cache_for(*cache_ttl)))
            }
            None => None,
        };
        Ok(IssuerTokens { signed, opaque, refresh_requested: Arc::default() })
    }

    /// Creates the authenticator of signed tokens, with keys from `source`.
    pub(crate) fn tokens_by(&self, source: impl FetchKeys) -> Result<SignedTokens, Failure> {
        SignedTokens::builder(&*self.issuer, &*self.audience, source)
            .algorithms(self.algorithms.iter().copied())
            .account_claim(&*self.account_claim)
            .scope_prefix(&*self.scope_prefix)
            .token_type(self.token_type)
            .build()
            .map_err(Failure::from)
    }
}

fn introspection(settings: &Settings) -> Option<(IssuerUrl, ClientCredentials, Duration)> {
    let [id, secret] = [&OAUTH_CLIENT_ID, &OAUTH_CLIENT_SECRET].map(|text| settings.given(text));
    let (endpoint, cache_ttl) = (settings.given(&OAUTH_INTROSPECTION), settings.get(&OAUTH_INTROSPECTION_CACHE));
    let (Some(endpoint), Some(id), Some(secret)) = (endpoint, id, secret) else {
        let all: [&Setting; 4] =
            [&OAUTH_INTROSPECTION, &OAUTH_CLIENT_ID, &OAUTH_CLIENT_SECRET, &OAUTH_INTROSPECTION_CACHE];
        let given: Vec<_> = all.into_iter().filter(|setting| settings.is_given(setting)).collect();
        if !given.is_empty() {
            let all = "--oauth-introspection URL, --oauth-client-id ID and --oauth-client-secret file:PATH";
            settings.conflict(&given, &format!("token introspection needs all of {all}"));
        }
        return None;
    };
    Some((endpoint, ClientCredentials::new(&id, &secret), cache_ttl))
}

/// Parses a URL of the issuer, whose responses are trusted (decision O23).
pub(crate) fn url(text: &str) -> Result<IssuerUrl, String> {
    IssuerUrl::parse(text).map_err(|error| error.to_string())
}

/// Parses an issuer: any printable text, because `iss` is compared byte by byte. Only fetches from it require a URL.
pub(crate) fn issuer(text: &str) -> Result<String, String> {
    let is_shown = |text: &String| !text.contains(char::is_control);
    let wrong = || "the issuer has a control character; use the text that tokens have in iss".to_owned();
    not_empty(text).and_then(|text| Some(text).filter(is_shown).ok_or_else(wrong))
}

/// Checks that `issuer` is a URL for fetching metadata, and that the API can name it as an authorization server.
///
/// # Errors
/// Returns what is wrong with the issuer's URL.
pub(crate) fn discoverable(issuer: &str) -> Result<(), String> {
    IssuerUrl::parse_issuer(issuer).map_err(|error| error.to_string())?;
    let builder = Catalogue::with_api_keys(MemoryStorage::new()).base_url("https://a.example/");
    match builder.authorization_server(issuer).build() {
        Err(error @ BuildError::AuthorizationServer(_)) => Err(error.to_string()),
        _ => Ok(()),
    }
}

pub(crate) fn key_source(text: &str) -> Result<KeySource, String> {
    match text.strip_prefix("file:") {
        Some("") => Err("the path is empty; use file:PATH".to_owned()),
        Some(path) => Ok(KeySource::File(path.into())),
        None => url(text).map(KeySource::Url),
    }
}

pub(crate) fn not_empty(text: &str) -> Result<String, String> {
    if text.is_empty() { Err("the value is empty; set it, or remove the option".to_owned()) } else { Ok(text.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_require_https_or_loopback() {
        for text in ["https://id.example.com", "https://a:8443/b/", "http://localhost:1", "http://127.0.0.9"] {
            assert_eq!(discoverable(text), Ok(()), "{text}");
        }
        for text in [
            "",
            "id.example.com",
            "http://id.example.com",
            "http://10.0.0.1",
            "https://u:hunter2@a",
            "https://u@a",
            "https://a?b",
            "https://a#b",
            "ftp://a",
            "https://:443",
            "https://a:99999",
            "https://a..b",
        ] {
            let message = discoverable(text).unwrap_err();
            assert!(message.contains("https://HOST") && !message.contains("hunter"), "{text}: {message}");
        }
        assert!(matches!(key_source("file:/a/b"), Ok(KeySource::File(path)) if path.ends_with("b")));
        assert!(matches!(key_source("http://[::1]:2/x"), Ok(KeySource::Url(_))));
        assert!(matches!(key_source("https://a/keys?p=policy"), Ok(KeySource::Url(_))), "some issuers use a query");
        assert!(matches!(key_source("http://[::ffff:127.0.0.1]:2/x"), Ok(KeySource::Url(_))));
        assert!(key_source("file:").is_err() && key_source("http://a/keys").is_err());
        assert!(discoverable("https://a/(b)").is_err(), "documents cannot contain it");
    }

    #[test]
    fn issuer_accepts_any_printable_text() {
        for text in ["http://adfs.example.com/adfs/services/trust", "accounts.google.com", "urn:example:issuer", "é b"]
        {
            assert_eq!(issuer(text).as_deref(), Ok(text));
        }
        assert!(issuer("").is_err() && issuer("https://a\n").unwrap_err().contains("control character"));
    }

    #[test]
    fn empty_values_are_refused() {
        assert!(not_empty("").is_err());
        assert!(OAUTH_ALGORITHMS.parse(&[]).is_err() && OAUTH_TOKEN_TYPE.parse(&[String::new()]).is_err());
        assert!(OAUTH_ALGORITHMS.parse(&["ES256".to_owned(), "none".to_owned()]).is_err());
    }

    #[test]
    fn introspection_cache_is_limited_to_a_minute() {
        let parse = |text: &str| OAUTH_INTROSPECTION_CACHE.parse(&[text.to_owned()]);
        assert_eq!(["0s", "10s", "1m"].map(parse), [0, 10, 60].map(|seconds| Ok(Duration::from_secs(seconds))));
        assert!(parse("61s").unwrap_err().contains("to 60s") && parse("x").is_err());
    }
}
