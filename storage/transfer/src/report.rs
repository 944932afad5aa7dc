//! [`Report`]: the changes of an import.

use std::fmt;

use catalogue_core::AccountId;
use catalogue_core::admin::Change;
use catalogue_core::text::printable;
use serde::Serialize;

use crate::import::Options;

/// Maximum number of names per kind of change in the text of a report.
const MAX_NAMES: u64 = 20;

/// Changes that an import has made, or would make. Serialized, they are the output of `catalogue import --json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Report {
    /// Whether the import was a dry run, which changes nothing.
    pub dry_run: bool,
    /// Counts of the input's accounts; an import never removes any.
    pub accounts: Counts,
    /// Counts of the input's courses, and of the courses that were pruned.
    pub courses: Counts,
    /// Names of changes: of all kinds in a dry run, otherwise of pruned courses; `None` if it is neither a dry run nor prunes.
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<Vec<NamedChange>>,
    /// Whether to record more names than the text of the report contains.
    #[serde(skip)]
    all_names: bool,
}

/// Numbers of accounts or courses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Counts {
    /// Did not exist before.
    pub added: u64,
    /// Existed with other content.
    pub changed: u64,
    /// Existed with the same content.
    pub unchanged: u64,
    /// Existed, and were not in the input.
    pub removed: u64,
}

/// An account or a course, with its change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct NamedChange {
    #[serde(rename = "type")]
    kind: &'static str,
    change: &'static str,
    account: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    slug: Option<String>,
}

impl Report {
    pub(crate) fn of(options: Options) -> Self {
        let changes = (options.dry_run || options.prune).then(Vec::new);
        Self { dry_run: options.dry_run, all_names: options.all_names, changes, ..Self::default() }
    }

    /// Counts the change of an account or, with `slug`, of its course.
    pub(crate) fn record(&mut self, change: Change, account: &AccountId, slug: Option<&str>) {
        let counts = if slug.is_some() { &mut self.courses } else { &mut self.accounts };
        let (name, count) = match change {
            Change::Added => ("added", &mut counts.added),
            Change::Changed => ("changed", &mut counts.changed),
            Change::Unchanged => ("unchanged", &mut counts.unchanged),
            Change::Repeated => return,
        };
        *count += 1;
        let count = *count;
        if self.dry_run && change != Change::Unchanged {
            self.record_name(name, count, account, slug);
        }
    }

    pub(crate) fn record_pruned(&mut self, mut courses: Vec<(AccountId, String)>) {
        courses.sort();
        for (account, slug) in courses {
            self.courses.removed += 1;
            self.record_name("removed", self.courses.removed, &account, Some(&slug));
        }
    }

    /// Records the name of the `count`th change of its kind, unless enough are recorded.
    fn record_name(&mut self, change: &'static str, count: u64, account: &AccountId, slug: Option<&str>) {
        if self.all_names || count <= MAX_NAMES {
            let kind = if slug.is_some() { "course" } else { "account" };
            let (account, slug) = (account.to_string(), slug.map(str::to_owned));
            self.changes.get_or_insert_default().push(NamedChange { kind, change, account, slug });
        }
    }
}

impl Counts {
    /// Returns whether there was any change.
    pub fn has_changes(&self) -> bool {
        self.added + self.changed + self.removed > 0
    }
}

/// Writes the recorded names, up to 20 per kind, and all counts.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { accounts, courses, .. } = self;
        for (kind, change, count) in [
            ("account", "added", accounts.added),
            ("account", "changed", accounts.changed),
            ("course", "added", courses.added),
            ("course", "changed", courses.changed),
            ("course", "removed", courses.removed),
        ] {
            let names = self.changes.iter().flatten();
            let mut names = names.filter(|name| (name.kind, name.change) == (kind, change)).peekable();
            if names.peek().is_none() {
                continue;
            }
            writeln!(f, "{kind}s {change}:")?;
            for NamedChange { account, slug, .. } in names.take(MAX_NAMES as usize) {
                let slug = slug.as_ref().map(|slug| format!("/{slug}")).unwrap_or_default();
                writeln!(f, "  {}", printable(&format!("{account}{slug}")))?;
            }
            if count > MAX_NAMES {
                writeln!(f, "  and {} more", count - MAX_NAMES)?;
            }
        }
        writeln!(f, "accounts: {accounts}")?;
        writeln!(f, "courses: {courses}")
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { added, changed, unchanged, removed } = self;
        write!(f, "{added} added, {changed} changed, {unchanged} unchanged, {removed} removed")
    }
}
