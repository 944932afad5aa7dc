//! [`Report`]: what an import changed.

use std::fmt;
use std::time::Duration;

use catalogue_core::AccountId;
use catalogue_core::admin::Change;
use serde::Serialize;

use super::Options;
use crate::text::printable;

/// How many names of one sort are shown to people.
const MOST_NAMES: usize = 20;
/// In which order sorts are shown.
const SORTS: [(&str, &str); 5] =
    [("account", ADDED), ("account", CHANGED), ("course", ADDED), ("course", CHANGED), ("course", REMOVED)];
const ADDED: &str = "added";
const CHANGED: &str = "changed";
const REMOVED: &str = "removed";

/// What an import changed, or would change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Report {
    /// Whether nothing was kept of it.
    pub(crate) dry_run: bool,
    /// What happened to accounts.
    pub(crate) accounts: Counts,
    /// What happened to courses.
    pub(crate) courses: Counts,
    /// Each change by name, where names are told: all of a dry run, and what was pruned.
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<Vec<Named>>,
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

/// One account or course, and what happened to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Named {
    #[serde(rename = "type")]
    kind: &'static str,
    change: &'static str,
    account: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    slug: Option<String>,
}

/// What is said at the end of an import.
#[derive(Debug, Serialize)]
pub(crate) struct Summary {
    #[serde(flatten)]
    pub(crate) report: Report,
    #[serde(skip)]
    pub(crate) input: String,
    pub(crate) database: String,
    #[serde(serialize_with = "seconds")]
    pub(crate) seconds: Duration,
}

impl Report {
    pub(super) fn of(options: Options) -> Self {
        let changes = (options.dry_run || options.prune).then(Vec::new);
        Self { dry_run: options.dry_run, changes, ..Self::default() }
    }

    pub(super) fn note_account(&mut self, change: Change, id: &AccountId) {
        self.accounts.count(change);
        self.note("account", change, id, None);
    }

    pub(super) fn note_course(&mut self, change: Change, account: &AccountId, slug: String) {
        self.courses.count(change);
        self.note("course", change, account, Some(slug));
    }

    fn note(&mut self, kind: &'static str, change: Change, account: &AccountId, slug: Option<String>) {
        let change = match change {
            Change::Added => ADDED,
            Change::Changed => CHANGED,
            Change::Unchanged | Change::Repeated => return,
        };
        if let Some(changes) = self.changes.as_mut().filter(|_| self.dry_run) {
            changes.push(Named { kind, change, account: account.to_string(), slug });
        }
    }

    pub(super) fn note_pruned(&mut self, mut courses: Vec<(AccountId, String)>) {
        courses.sort();
        self.courses.removed = courses.len() as u64;
        let name = |(account, slug): (AccountId, String)| Named {
            kind: "course",
            change: REMOVED,
            account: account.to_string(),
            slug: Some(slug),
        };
        self.changes.get_or_insert_default().extend(courses.into_iter().map(name));
    }

    fn is_of_nothing(&self) -> bool {
        [self.accounts, self.courses].iter().all(|counts| *counts == Counts::default())
    }
}

impl Counts {
    fn count(&mut self, change: Change) {
        match change {
            Change::Added => self.added += 1,
            Change::Changed => self.changed += 1,
            Change::Unchanged => self.unchanged += 1,
            Change::Repeated => {}
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { report, input, database, seconds } = self;
        let seconds = format_args!("{:.1} s", seconds.as_secs_f64());
        if report.is_of_nothing() {
            writeln!(f, "{} has no account and no course: nothing was imported into {database}", printable(input))?;
        } else if report.dry_run {
            writeln!(f, "dry run on {database} in {seconds}, nothing was changed; this would change:")?;
        } else {
            writeln!(f, "imported into {database} in {seconds}:")?;
        }
        for (kind, change) in SORTS {
            let is_of_sort = |name: &&Named| (name.kind, name.change) == (kind, change);
            let names: Vec<_> = report.changes.iter().flatten().filter(is_of_sort).collect();
            if names.is_empty() {
                continue;
            }
            writeln!(f, "{kind}s {change}:")?;
            for name in names.iter().take(MOST_NAMES) {
                writeln!(f, "  {name}")?;
            }
            if names.len() > MOST_NAMES {
                writeln!(f, "  and {} more", names.len() - MOST_NAMES)?;
            }
        }
        writeln!(f, "accounts: {}", report.accounts)?;
        writeln!(f, "courses: {}", report.courses)
    }
}

/// A slug has no slash, so that what stands behind the last one is the slug.
impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&printable(&self.account))?;
        self.slug.iter().try_for_each(|slug| write!(f, "/{}", printable(slug)))
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { added, changed, unchanged, removed } = self;
        write!(f, "{added} added, {changed} changed, {unchanged} unchanged, {removed} removed")
    }
}

fn seconds<S: serde::Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64((time.as_secs_f64() * 1_000.0).round() / 1_000.0)
}
