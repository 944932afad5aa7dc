//! [`Report`]: what an import changed.

use std::fmt;
use std::time::Duration;

use catalogue_core::AccountId;
use catalogue_core::admin::Change;
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use super::Options;
use crate::text::printable;

/// How many names of one sort are shown to people.
const MOST_NAMES: u64 = 20;

/// What an import changed, or would change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Report {
    /// Whether nothing was kept of it.
    pub(crate) dry_run: bool,
    pub(crate) accounts: Counts,
    pub(crate) courses: Counts,
    /// Each change by name, where names are told: all of a dry run, and what was pruned.
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<Vec<Named>>,
    /// Whether more of them are kept than people are shown.
    #[serde(skip)]
    all_names: bool,
}

/// How many were not there before, were there with other content or with the same, and were pruned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Counts {
    pub(crate) added: u64,
    pub(crate) changed: u64,
    pub(crate) unchanged: u64,
    pub(crate) removed: u64,
}

/// What happened to what, in the order in which it is shown.
const SORTS: [(&str, &str); 5] =
    [("account", "added"), ("account", "changed"), ("course", "added"), ("course", "changed"), ("course", "removed")];
const ACCOUNT_ADDED: u8 = 0;
const COURSE_ADDED: u8 = 2;
const COURSE_REMOVED: u8 = 4;

/// One account or course, and what happened to it. There may be very many.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Named {
    /// Its place among [`SORTS`].
    sort: u8,
    /// An account's id; of a course also a slash and its slug, which has none.
    name: Box<str>,
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
        Self { dry_run: options.dry_run, all_names: options.all_names, changes, ..Self::default() }
    }

    pub(super) fn note_account(&mut self, change: Change, id: &AccountId) {
        self.accounts.count(change);
        self.note(change, ACCOUNT_ADDED, || id.to_string());
    }

    pub(super) fn note_course(&mut self, change: Change, account: &AccountId, slug: &str) {
        self.courses.count(change);
        self.note(change, COURSE_ADDED, || format!("{account}/{slug}"));
    }

    /// What was changed stands behind what was added.
    fn note(&mut self, change: Change, added: u8, name: impl FnOnce() -> String) {
        match change {
            Change::Added if self.dry_run => self.name(added, name),
            Change::Changed if self.dry_run => self.name(added + 1, name),
            _ => {}
        }
    }

    pub(super) fn note_pruned(&mut self, mut courses: Vec<(AccountId, String)>) {
        courses.sort();
        for (account, slug) in courses {
            self.courses.removed += 1;
            self.name(COURSE_REMOVED, || format!("{account}/{slug}"));
        }
    }

    /// Keeps the name of what was just counted, where it will be told.
    fn name(&mut self, sort: u8, name: impl FnOnce() -> String) {
        if self.all_names || self.counts()[usize::from(sort)] <= MOST_NAMES {
            self.changes.get_or_insert_default().push(Named { sort, name: name().into() });
        }
    }

    /// How many of each of the [`SORTS`].
    fn counts(&self) -> [u64; SORTS.len()] {
        let Self { accounts, courses, .. } = self;
        [accounts.added, accounts.changed, courses.added, courses.changed, courses.removed]
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
        if [report.accounts, report.courses] == [Counts::default(); 2] {
            writeln!(f, "{} has no account and no course: nothing was imported into {database}", printable(input))?;
        } else if report.dry_run && report.counts() == [0; SORTS.len()] {
            writeln!(f, "dry run on {database} in {seconds}: nothing would change")?;
        } else if report.dry_run {
            writeln!(f, "dry run on {database} in {seconds}, nothing was changed; this would change:")?;
        } else {
            writeln!(f, "imported into {database} in {seconds}:")?;
        }
        for ((sort, (kind, change)), count) in (0..).zip(SORTS).zip(report.counts()) {
            let mut names = report.changes.iter().flatten().filter(|name| name.sort == sort).peekable();
            if names.peek().is_none() {
                continue;
            }
            writeln!(f, "{kind}s {change}:")?;
            for Named { name, .. } in names.take(MOST_NAMES as usize) {
                writeln!(f, "  {}", printable(name))?;
            }
            if count > MOST_NAMES {
                writeln!(f, "  and {} more", count - MOST_NAMES)?;
            }
        }
        writeln!(f, "accounts: {}", report.accounts)?;
        writeln!(f, "courses: {}", report.courses)
    }
}

impl Serialize for Named {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (kind, change) = SORTS[usize::from(self.sort)];
        let course = self.name.rsplit_once('/').filter(|_| kind == "course");
        let mut named = serializer.serialize_map(None)?;
        named.serialize_entry("type", kind)?;
        named.serialize_entry("change", change)?;
        named.serialize_entry("account", course.map_or(&*self.name, |(account, _)| account))?;
        if let Some((_, slug)) = course {
            named.serialize_entry("slug", slug)?;
        }
        named.end()
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { added, changed, unchanged, removed } = self;
        write!(f, "{added} added, {changed} changed, {unchanged} unchanged, {removed} removed")
    }
}

fn seconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64((time.as_secs_f64() * 1_000.0).round() / 1_000.0)
}
