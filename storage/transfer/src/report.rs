//! [`Report`]: what an import changed.

use std::fmt;

use catalogue_core::AccountId;
use catalogue_core::admin::Change;
use catalogue_core::text::printable;
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use crate::import::Options;

/// How many names of one sort are shown to people.
const MOST_NAMES: u64 = 20;

/// What an import changed, or would change. As JSON it is what `catalogue import --json` prints of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Report {
    /// Whether nothing was kept of it.
    pub dry_run: bool,
    /// The accounts of the input; none is ever removed.
    pub accounts: Counts,
    /// The courses of the input, and those that were pruned.
    pub courses: Counts,
    /// Each change by name, where names are told: all of a dry run, and what was pruned.
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<Vec<Named>>,
    /// Whether more of them are kept than people are shown.
    #[serde(skip)]
    all_names: bool,
}

/// How many accounts or courses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Counts {
    /// Were not there before.
    pub added: u64,
    /// Were there with other content.
    pub changed: u64,
    /// Were there with the same content.
    pub unchanged: u64,
    /// Were there and not in the input.
    pub removed: u64,
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

impl Report {
    pub(crate) fn of(options: Options) -> Self {
        let changes = (options.dry_run || options.prune).then(Vec::new);
        Self { dry_run: options.dry_run, all_names: options.all_names, changes, ..Self::default() }
    }

    pub(crate) fn note_account(&mut self, change: Change, id: &AccountId) {
        self.accounts.count(change);
        self.note(change, ACCOUNT_ADDED, || id.to_string());
    }

    pub(crate) fn note_course(&mut self, change: Change, account: &AccountId, slug: &str) {
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

    pub(crate) fn note_pruned(&mut self, mut courses: Vec<(AccountId, String)>) {
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
    /// Whether there was anything to do.
    pub fn has_changes(&self) -> bool {
        self.added + self.changed + self.removed > 0
    }

    fn count(&mut self, change: Change) {
        match change {
            Change::Added => self.added += 1,
            Change::Changed => self.changed += 1,
            Change::Unchanged => self.unchanged += 1,
            Change::Repeated => {}
        }
    }
}

/// The names that are kept, up to twenty of a sort, and all counts.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ((sort, (kind, change)), count) in (0..).zip(SORTS).zip(self.counts()) {
            let mut names = self.changes.iter().flatten().filter(|name| name.sort == sort).peekable();
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
        writeln!(f, "accounts: {}", self.accounts)?;
        writeln!(f, "courses: {}", self.courses)
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
