//! Authentication (section 5): from the secret of a request to an identity.
//!
//! A request's secret becomes a [`BearerToken`], and an [`Authenticator`] resolves it to an [`Identity`]. The scope gate of
//! the module `operation` then admits the identity to an operation or refuses it.

mod authenticator;
mod bearer;
#[cfg(feature = "oauth")]
pub mod introspected;
#[cfg(feature = "oauth")]
pub mod signed;
mod stored_credentials;

pub use authenticator::{Authenticator, Explanation, Refusal, Verdict};
pub use bearer::BearerToken;
pub use stored_credentials::StoredCredentials;
pub(crate) use stored_credentials::{CredentialLookup, look_up};

pub use crate::model::{
    Credential, CredentialKind, Identity, Issued, NewToken, OtherScope, Scope, Scopes, TokenDigest, token_kind,
};
