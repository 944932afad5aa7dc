//! [`Target`]: what is asked.

use http::Uri;

use crate::commands::serving::reached;
use crate::exit::Failure;
use crate::settings::Settings;
use crate::settings::table::{DOCS_URL, LISTEN, TLS_CERT};

const RIGHT: &str = "write http://ADDRESS:PORT/PATH, like http://127.0.0.1:8080/docs/openapi.json";

/// Whom to ask, and for what.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) https: bool,
    /// A host and a port.
    pub(super) address: String,
    /// The same as the request names it.
    pub(super) host: String,
    pub(super) path: String,
}

impl Target {
    /// What a URL names.
    pub(super) fn named(url: &str) -> Result<Self, Failure> {
        let wrong = || Failure::usage(format!("{url:?} is not an address to ask; {RIGHT}"));
        let uri: Uri = url.parse().map_err(|_| wrong())?;
        let authority = uri.authority().filter(|_| uri.scheme_str() == Some("http")).ok_or_else(wrong)?;
        Ok(Self {
            https: false,
            address: format!("{}:{}", authority.host(), authority.port_u16().unwrap_or(80)),
            host: authority.as_str().to_owned(),
            path: uri.path_and_query().map_or("/", |path| path.as_str()).to_owned(),
        })
    }

    /// The documents of the server that has these settings, on this machine.
    pub(super) fn of_settings(settings: &Settings) -> Result<Self, Failure> {
        let (listening, docs_url) = (settings.get(&LISTEN), settings.text(&DOCS_URL).unwrap_or_default());
        let https = settings.is_given(&TLS_CERT);
        settings.finish()?;
        if listening.port() == 0 {
            let what = format!("the server of these settings listens on a port that is found when it starts; {RIGHT}");
            return Err(Failure::usage(what));
        }
        // One that cannot be is told by the server, which then does not answer.
        let docs_url: Uri = docs_url.parse().unwrap_or_default();
        let address = reached(listening).to_string();
        Ok(Self {
            https,
            host: address.clone(),
            address,
            path: format!("{}/openapi.json", docs_url.path().trim_end_matches('/')),
        })
    }
}
