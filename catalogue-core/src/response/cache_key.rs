//! [`CacheKey`]: everything that a response depends on, as the cache key.

use std::hash::{Hash, Hasher};

use crate::model::{AccountId, Identity, Revision, Scope};
use crate::operation::Call;

/// Everything that the bytes of a response depend on, except for the code that renders them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CacheKey {
    /// Number of the mount that received the request.
    pub(crate) mount: u32,
    pub(crate) account: AccountId,
    pub(crate) subject: Subject,
    pub(crate) call: Call,
}

/// Data that a response shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// The account's courses at this revision.
    Courses(Revision),
    /// The caller. Boxed, so that keys of pages do not reserve space for it.
    Caller(Box<Identity>),
}

impl CacheKey {
    /// Returns the size of the key in bytes.
    pub(crate) fn weight(&self) -> usize {
        let subject = match &self.subject {
            Subject::Courses(_) => 0,
            Subject::Caller(identity) => size_of::<Identity>() + weight(identity),
        };
        size_of::<Self>() + self.account.as_str().len() + subject + self.call.weight()
    }
}

fn weight(identity: &Identity) -> usize {
    let scopes: usize = identity.scopes.iter().map(|scope| size_of::<Scope>() + scope.name().len()).sum();
    let client = identity.issued.as_ref().and_then(|issued| issued.client.as_ref()).map_or(0, |client| client.len());
    identity.credential_id.len() + scopes + identity.rate_limit_subject().len() + client
}

impl Hash for CacheKey {
    /// Hashes only the fields that nearly always distinguish keys: every request pays for each field.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.account.hash(state);
        match &self.subject {
            Subject::Courses(revision) => state.write(revision.as_bytes()),
            Subject::Caller(identity) => identity.credential_id.hash(state),
        }
        self.call.hash(state);
    }
}
