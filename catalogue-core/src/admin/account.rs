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

/// Of which accounts a call is. An id that no account has is passed over, and one that stands there twice counts once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accounts<'a> {
    /// Of all.
    All,
    /// Of these alone, in whatever order.
    Only(&'a [AccountId]),
}

/// An account with what it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountSummary {
    /// The account.
    pub account: Account,
    /// How many courses it has.
    pub courses: u64,
    /// How many API keys of it hold: neither revoked nor expired.
    pub keys: u64,
}

/// What was removed with an account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemovedAccount {
    /// How many courses.
    pub courses: u64,
    /// How many modules those had.
    pub modules: u64,
    /// How many API keys, of whatever state.
    pub keys: u64,
    /// How many OAuth tokens, of whatever state.
    pub tokens: u64,
    /// Why the storage's own files may still hold bytes of it, and what ends that; `None` where they hold none.
    pub remains: Option<String>,
}
