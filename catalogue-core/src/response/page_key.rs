//! [`Key`] and [`Wanted`]: what an answer depends on, to keep it by and to look it up.

use std::hash::{Hash, Hasher};

use quick_cache::Equivalent;

use crate::model::{AccountId, Identity, Revision, Scope};
use crate::operation::Call;

/// All that the bytes of an answer depend on, beside the code that renders them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// The number of the mount that the request came in at.
    mount: u32,
    account: AccountId,
    shown: Shown,
    pub(crate) call: Call,
}

/// What an answer shows.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Shown {
    /// The account's courses at that revision.
    Courses(Revision),
    /// Who calls. Boxed, so that pages have no room for it.
    Caller(Box<Identity>),
}

/// A [`Key`] that borrows: most are only looked up, and counting its texts' owners takes longer than comparing them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wanted<'k> {
    pub(crate) mount: u32,
    pub(crate) account: &'k AccountId,
    pub(crate) shows: Shows<'k>,
    pub(crate) call: &'k Call,
}

/// As [`Shown`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shows<'k> {
    Courses(Revision),
    Caller(&'k Identity),
}

impl Key {
    /// The key of that call, at that mount.
    pub(crate) fn new(mount: u32, account: &AccountId, shows: Shows<'_>, call: Call) -> Self {
        let shown = match shows {
            Shows::Courses(revision) => Shown::Courses(revision),
            Shows::Caller(identity) => Shown::Caller(Box::new(identity.clone())),
        };
        Self { mount, account: account.clone(), shown, call }
    }

    /// The revision of the courses that it shows, if it shows any.
    pub(crate) fn revision(&self) -> Option<Revision> {
        match self.shown {
            Shown::Courses(revision) => Some(revision),
            Shown::Caller(_) => None,
        }
    }

    fn wanted(&self) -> Wanted<'_> {
        let shows = match &self.shown {
            Shown::Courses(revision) => Shows::Courses(*revision),
            Shown::Caller(identity) => Shows::Caller(identity),
        };
        Wanted { mount: self.mount, account: &self.account, shows, call: &self.call }
    }

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

impl Hash for Wanted<'_> {
    /// Of what nearly always tells keys apart: every request pays for each field.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.account.hash(state);
        match self.shows {
            Shows::Courses(revision) => state.write(revision.as_bytes()),
            Shows::Caller(identity) => identity.credential_id.hash(state),
        }
        self.call.hash(state);
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.wanted().hash(state);
    }
}

impl Equivalent<Key> for Wanted<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        *self == key.wanted()
    }
}
