//! Accounts: their ids and records.

use std::fmt;
use std::sync::Arc;

/// Id of an account, which owns the courses that a credential may read.
///
/// Any text; only the storage interprets it. Cheap to clone.
///
/// ```
/// use catalogue_core::AccountId;
///
/// let account = AccountId::from("acc_1");
/// assert_eq!(account.as_str(), "acc_1");
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccountId(Arc<str>);

impl AccountId {
    /// Creates an id from its text.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self(id.into())
    }

    /// Returns the id's text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for AccountId {
    fn from(id: &str) -> Self {
        Self::new(id)
    }
}

impl From<String> for AccountId {
    fn from(id: String) -> Self {
        Self::new(id)
    }
}

impl fmt::Debug for AccountId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for AccountId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An account that publishes courses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// The account's id.
    pub id: AccountId,
    /// Display name of the account; may be empty.
    pub name: String,
    /// Email address of the account; may be empty.
    pub email: String,
}

/// Accounts that a call is about. Unknown ids are skipped, and an id that is listed twice counts once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accounts<'a> {
    /// All accounts.
    All,
    /// Only these accounts, in any order.
    Only(&'a [AccountId]),
}

/// An account with the numbers of its courses and keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountSummary {
    /// The account.
    pub account: Account,
    /// Number of its courses.
    pub courses: u64,
    /// Number of its API keys that are neither revoked nor expired.
    pub keys: u64,
}

/// Counts of what was removed with an account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemovedAccount {
    /// Number of courses.
    pub courses: u64,
    /// Number of modules of those courses.
    pub modules: u64,
    /// Number of API keys, in any state.
    pub keys: u64,
    /// Number of OAuth tokens, in any state.
    pub tokens: u64,
    /// Why the storage's files may still contain bytes of the account, and what removes them; `None` if they contain none.
    pub remains: Option<String>,
}
