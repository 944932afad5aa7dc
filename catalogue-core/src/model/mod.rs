//! The data of the API: accounts, courses and credentials. The lowest layer: it depends on no other.

mod account;
mod course;
mod credential;
mod identity;
mod revision;
mod scope;
mod token;

pub use account::{Account, AccountId, AccountSummary, Accounts, RemovedAccount};
pub use course::{Course, CourseDetail, CourseListItem, CourseModule, MAX_SLUG_BYTES, Module, is_slug};
pub use credential::{Credential, CredentialRecord, CredentialState, CredentialUse, NewCredential};
pub(crate) use identity::IdentityView;
pub use identity::{CredentialKind, Identity, Issued};
pub use revision::{AtRevision, Revision};
pub use scope::{OtherScope, Scope, Scopes};
pub(crate) use token::has_api_key_prefix;
pub use token::{NewToken, TokenDigest, token_kind};
