//! [`Key`]: what a response depends on, which it is cached by.

use std::hash::{Hash, Hasher};

use crate::model::{AccountId, Identity, Revision, Scope};
use crate::operation::Call;

/// All that the bytes of a response depend on, except for the code that renders them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// The number of the mount that the request came in at.
    pub(crate) mount: u32,
    pub(crate) account: AccountId,
    pub(crate) shown: Shown,
    pub(crate) call: Call,
}

/// What a response shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// The account's courses at that revision.
    Courses(Revision),
    /// Who calls. Boxed, so that pages have no room for it.
    Caller(Box<Identity>),
}

impl Key {
    /// How many bytes it takes up.
    pub(crate) fn weight(&self) -> usize {
        let shown = match &self.shown {
            Shown::Courses(_) => 0,
            Shown::Caller(identity) => size_of::<Identity>() + weight(identity),
        };
        size_of::<Self>() + self.account.as_str().len() + shown + self.call.weight()
    }
}

/// How many bytes its texts take up.
fn weight(identity: &Identity) -> usize {
    let scopes: usize = identity.scopes.iter().map(|scope| size_of::<Scope>() + scope.name().len()).sum();
    let client = identity.issued.as_ref().and_then(|issued| issued.client.as_ref()).map_or(0, |client| client.len());
    identity.credential_id.len() + scopes + identity.counted_as().len() + client
}

impl Hash for Key {
    /// Of what nearly always tells keys apart: every request pays for each field.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.account.hash(state);
        match &self.shown {
            Shown::Courses(revision) => state.write(revision.as_bytes()),
            Shown::Caller(identity) => identity.credential_id.hash(state),
        }
        self.call.hash(state);
    }
}
