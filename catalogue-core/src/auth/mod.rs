//! Who calls and what they may do: sections 5.1 to 5.7.
//!
//! A request's secret becomes a [`BearerToken`]; an [`Authenticator`] says whose it is; the scope gate lets the
//! [`Identity`] through to an operation or refuses it.

mod authenticator;
mod bearer;
mod credential;
mod gate;
mod identity;
#[cfg(feature = "oauth")]
pub mod introspected;
mod misspelt;
mod scope;
#[cfg(feature = "oauth")]
pub mod signed;
mod token;

pub use authenticator::{Authenticator, Explanation, Refusal, Verdict};
pub use bearer::{BearerToken, TokenDigest};
pub use credential::{Credential, StoredCredentials};
pub(crate) use credential::{LookedUp, look_up};
pub(crate) use gate::Authorized;
pub(crate) use identity::IdentityView;
pub use identity::{CredentialKind, Identity, Issued};
pub use scope::{OtherScope, Scope, Scopes};
pub use token::{NewToken, token_kind};
