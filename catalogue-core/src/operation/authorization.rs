//! The scope gate: the only constructor of [`Authorized`].

use super::Operation;
use crate::error::ApiError;
use crate::model::{AccountId, CredentialKind, Identity};

/// A caller that passed one operation's gate. Operations require it, so none runs without the gate.
#[derive(Debug)]
pub(crate) struct Authorized<'c>(&'c Identity);

impl Authorized<'_> {
    /// Returns the only account whose data the caller may read.
    pub(crate) fn account(&self) -> &AccountId {
        &self.0.account
    }

    pub(crate) fn identity(&self) -> &Identity {
        self.0
    }
}

impl Operation {
    /// Authorizes `identity` for this operation: checks first its kind (decision A5), then its scope (section 5.6).
    ///
    /// An operation that needs no scope accepts every valid credential (decision A6).
    pub(crate) fn authorize<'c>(
        self,
        identity: &'c Identity,
        accepted: &[CredentialKind],
    ) -> Result<Authorized<'c>, ApiError> {
        let Some(required) = self.spec().scope.clone() else {
            return Ok(Authorized(identity));
        };
        let is_host_session = identity.kind == CredentialKind::Session;
        if !is_host_session && !accepted.contains(&identity.kind) {
            return Err(ApiError::UnsupportedCredential { required });
        }
        if !identity.scopes.contains(&required) {
            return Err(ApiError::InsufficientScope { required, granted: identity.scopes.clone() });
        }
        Ok(Authorized(identity))
    }
}
