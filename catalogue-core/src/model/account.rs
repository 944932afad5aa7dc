//! Accounts: their ids, and what is recorded of them.

use std::fmt;
use std::sync::Arc;

/// The id of an account: whose courses a credential may read.
///
/// Any text, which the storage alone interprets. Cheap to clone.
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
    /// An id of that text.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self(id.into())
    }

    /// The id's text.
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
    /// What the account calls itself; may be empty.
    pub name: String,
    /// Where to reach it; may be empty.
    pub email: String,
}

/// Which accounts a call is about. An id that no account has is skipped, and one that is listed twice counts once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accounts<'a> {
    /// All accounts.
    All,
    /// These alone, in any order.
    Only(&'a [AccountId]),
}

/// An account, and how much it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountSummary {
    /// The account.
    pub account: Account,
    /// How many courses it has.
    pub courses: u64,
    /// How many of its API keys are neither revoked nor expired.
    pub keys: u64,
}

/// What was removed with an account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemovedAccount {
    /// How many courses.
    pub courses: u64,
    /// How many modules those had.
    pub modules: u64,
    /// How many API keys, in any state.
    pub keys: u64,
    /// How many OAuth tokens, in any state.
    pub tokens: u64,
    /// Why the storage's own files may still hold bytes of it, and what ends that; `None` where they hold none.
    pub remains: Option<String>,
}
