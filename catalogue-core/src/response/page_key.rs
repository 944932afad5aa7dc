//! [`Key`]: everything that a response depends on, as the cache key.

use std::hash::{Hash, Hasher};

use crate::model::{AccountId, Identity, Revision, Scope};
use crate::operation::Call;

/// Everything that the bytes of a response depend on, except for the code that renders them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// Number of the mount that received the request.
    pub(crate) mount: u32,
    pub(crate) account: AccountId,
    pub(crate) shown: Shown,
    pub(crate) call: Call,
}

/// Data that a response shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// The account's courses at this revision.
    Courses(Revision),
    /// The caller. Boxed, so that keys of pages do not reserve space for it.
    Caller(Box<Identity>),
}

impl Key {
    /// Returns the size of the key in bytes.
    pub(crate) fn weight(&self) -> usize {
        let shown = match &self.shown {
            Shown::Courses(_) => 0,
            Shown::Caller(identity) => size_of::<Identity>() + weight(identity),
        };
        size_of::<Self>() + self.account.as_str().len() + shown + self.call.weight()
    }
}

/// Returns the size of the identity's texts in bytes.
fn weight(identity: &Identity) -> usize {
    let scopes: usize = identity.scopes.iter().map(|scope| size_of::<Scope>() + scope.name().len()).sum();
    let client = identity.issued.as_ref().and_then(|issued| issued.client.as_ref()).map_or(0, |client| client.len());
    identity.credential_id.len() + scopes + identity.counted_as().len() + client
}

impl Hash for Key {
    /// Hashes only the fields that nearly always distinguish keys: every request pays for each field.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.account.hash(state);
        match &self.shown {
            Shown::Courses(revision) => state.write(revision.as_bytes()),
            Shown::Caller(identity) => identity.credential_id.hash(state),
        }
        self.call.hash(state);
    }
}
