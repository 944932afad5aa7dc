//! Accounts, and what is told of them.

use crate::model::AccountId;

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
