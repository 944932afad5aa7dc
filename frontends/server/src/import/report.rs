//! [`Report`]: what an import changed.

use std::fmt;

use catalogue_core::admin::Change;
use serde::Serialize;

/// What an import changed, or would change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Report {
    /// Whether nothing was kept of it.
    pub(crate) dry_run: bool,
    /// What happened to accounts.
    pub(crate) accounts: Counts,
    /// What happened to courses.
    pub(crate) courses: Counts,
}

/// How many of one sort.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Counts {
    /// Were not there before.
    pub(crate) added: u64,
    /// Were there with other content.
    pub(crate) changed: u64,
    /// Were there with the same content.
    pub(crate) unchanged: u64,
    /// Were pruned.
    pub(crate) removed: u64,
}

impl Counts {
    pub(super) fn count(&mut self, change: Change) {
        match change {
            Change::Added => self.added += 1,
            Change::Changed => self.changed += 1,
            Change::Unchanged => self.unchanged += 1,
            Change::Repeated => {}
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.dry_run {
            writeln!(f, "dry run, nothing was changed; this would change:")?;
        }
        writeln!(f, "accounts: {}", self.accounts)?;
        writeln!(f, "courses: {}", self.courses)
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { added, changed, unchanged, removed } = self;
        write!(f, "{added} added, {changed} changed, {unchanged} unchanged, {removed} removed")
    }
}
