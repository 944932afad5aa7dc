//! Credential lookups of a host application, and their flaws.

use std::sync::{Arc, RwLock};

use catalogue_core::async_trait;
use catalogue_core::auth::{Credential, Scopes, TokenDigest};
use catalogue_core::storage::{CredentialStorage, StorageError};

use crate::tables::Tables;

/// Flaw of a host application's credential lookups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    StaleRevision,
    HidesRevoked,
    OmitsScopes,
    IgnoresRevocations,
}

/// The host application's credential storage, which returns the revision of the account's courses.
#[derive(Debug)]
pub(crate) struct Credentials {
    pub(crate) tables: Arc<RwLock<Tables>>,
    pub(crate) flaw: Option<Flaw>,
}

#[async_trait]
impl CredentialStorage for Credentials {
    async fn find_credential(&self, digest: &TokenDigest) -> Result<Option<Credential>, StorageError> {
        let tables = self.tables.read().unwrap();
        let Some(mut found) = tables.credentials.get(digest).cloned() else { return Ok(None) };
        let old = self.flaw == Some(Flaw::StaleRevision);
        let revisions = if old { &tables.first_revisions } else { &tables.revisions };
        found.revision = revisions.get(&found.identity.account).copied();
        if self.flaw == Some(Flaw::OmitsScopes) {
            found.identity.scopes = Scopes::default();
        }
        let gone = found.revoked_at.is_some() && self.flaw == Some(Flaw::HidesRevoked);
        Ok((!gone).then_some(found))
    }

    async fn is_revoked(&self, digest: &TokenDigest) -> Result<Option<bool>, StorageError> {
        let applies = self.flaw != Some(Flaw::IgnoresRevocations);
        let tables = self.tables.read().unwrap();
        Ok(tables.revoked_tokens.as_ref().map(|revoked| applies && revoked.contains(digest)))
    }
}
