//! [`Introspecting`]: whether the issuer is asked about opaque tokens, and how (decisions O35 to O38).

use std::sync::Arc;
use std::time::Duration;

use catalogue_core::auth::introspected::IntrospectedTokens;
use catalogue_core::auth::signed::SignedTokens;
use catalogue_issuer::{ClientCredentials, Introspection, IssuerAddress};

use crate::exit::Failure;
use crate::settings::table::*;
use crate::settings::{Setting, Settings};

/// Where the issuer is asked, by whom, and how long its answers are kept.
#[derive(Debug)]
pub(super) struct Introspecting {
    endpoint: IssuerAddress,
    credentials: ClientCredentials,
    keep: Duration,
}

impl Introspecting {
    pub(super) fn read(settings: &Settings) -> Option<Self> {
        let [id, secret] = [&OAUTH_CLIENT_ID, &OAUTH_CLIENT_SECRET].map(|text| settings.given(text));
        let (endpoint, keep) = (settings.given(&OAUTH_INTROSPECTION), settings.get(&OAUTH_INTROSPECTION_CACHE));
        let (Some(endpoint), Some(id), Some(secret)) = (endpoint, id, secret) else {
            let all: [&Setting; 4] =
                [&OAUTH_INTROSPECTION, &OAUTH_CLIENT_ID, &OAUTH_CLIENT_SECRET, &OAUTH_INTROSPECTION_CACHE];
            let given: Vec<_> = all.into_iter().filter(|setting| settings.is_given(setting)).collect();
            if !given.is_empty() {
                let all = "--oauth-introspection URL, --oauth-client-id ID and --oauth-client-secret file:PATH";
                settings.conflict(&given, &format!("to ask the issuer about opaque tokens, write all of {all}"));
            }
            return None;
        };
        Some(Self { endpoint, credentials: ClientCredentials::new(&id, &secret), keep })
    }

    pub(super) fn tokens(&self, signed: &SignedTokens) -> Result<Arc<IntrospectedTokens>, Failure> {
        let asked = Introspection::new(self.endpoint.clone(), self.credentials.clone())?;
        Ok(Arc::new(IntrospectedTokens::of(signed, asked).keep(self.keep)))
    }
}
