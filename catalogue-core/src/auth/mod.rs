//! Authentication and authorization: sections 5.1 to 5.7.
//!
//! A request's secret becomes a [`BearerToken`]; an [`Authenticator`] resolves it to an [`Identity`]; the scope gate admits
//! the identity to an operation or refuses it.

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
