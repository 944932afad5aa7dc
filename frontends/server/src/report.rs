//! [`Report`]: findings of checks, as text or JSON.

use std::fmt;

use catalogue_core::Timestamp;
use catalogue_core::admin::CredentialRecord;
use serde::Serialize;

use crate::exit::{Failure, sanitized};
use crate::output;

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    /// The check did not run: an earlier one failed, or the database is missing.
    #[cfg(feature = "oauth")]
    #[serde(rename = "not reached")]
    NotReached,
    Ok,
    /// The server works, but an operator should look into it.
    Warning,
    /// The server does not work, or not as it should.
    Error,
}

/// Finding of one check.
#[derive(Debug, Serialize)]
struct Finding {
    check: &'static str,
    verdict: Verdict,
    message: String,
    /// Some of the credentials that the message counts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    keys: Vec<NamedKey>,
}

/// A credential that a finding is about.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NamedKey {
    id: String,
    account: String,
    created_at: Timestamp,
    expires_at: Option<Timestamp>,
    /// Last use, or creation if the key was never used. Set only for a key that is reported as unused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unused_since: Option<Timestamp>,
}

impl From<&CredentialRecord> for NamedKey {
    fn from(CredentialRecord { identity, created_at, expires_at, .. }: &CredentialRecord) -> Self {
        Self {
            id: sanitized(&identity.credential_id),
            account: sanitized(identity.account.as_str()),
            created_at: *created_at,
            expires_at: *expires_at,
            unused_since: None,
        }
    }
}

impl NamedKey {
    /// Returns the time whose day is printed: `unused_since`, or else the expiry, or else the creation.
    pub(crate) fn day(&self) -> Timestamp {
        self.unused_since.or(self.expires_at).unwrap_or(self.created_at)
    }
}

impl fmt::Display for NamedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, account, expires_at, unused_since, .. } = self;
        let day = self.day().to_string();
        let day = day.split('T').next().unwrap_or_default();
        match (unused_since, expires_at) {
            (Some(_), _) => write!(f, "{id} of {account} has been unused since {day}"),
            (None, Some(_)) => write!(f, "{id} of {account} expires on {day}"),
            (None, None) => write!(f, "{id} of {account}, created on {day}, never expires"),
        }
    }
}

/// All findings, in the order of the checks.
#[derive(Debug, Default)]
pub(crate) struct Report(Vec<Finding>);

impl Report {
    pub(crate) fn ok(&mut self, check: &'static str, message: impl AsRef<str>) {
        self.add(check, Verdict::Ok, message.as_ref());
    }

    pub(crate) fn warning(&mut self, check: &'static str, message: impl AsRef<str>) {
        self.add(check, Verdict::Warning, message.as_ref());
    }

    pub(crate) fn error(&mut self, check: &'static str, message: impl AsRef<str>) {
        self.add(check, Verdict::Error, message.as_ref());
    }

    #[cfg(feature = "oauth")]
    pub(crate) fn not_reached(&mut self, check: &'static str) {
        self.add(check, Verdict::NotReached, "not reached");
    }

    fn add(&mut self, check: &'static str, verdict: Verdict, message: &str) {
        self.0.push(Finding { check, verdict, message: sanitized(message), keys: Vec::new() });
    }

    /// Names some of the credentials that the last finding counts.
    pub(crate) fn add_keys(&mut self, keys: impl Iterator<Item = NamedKey>) {
        if let Some(finding) = self.0.last_mut() {
            finding.keys.extend(keys);
        }
    }

    /// Prints the findings. Fails if one is an error.
    pub(crate) fn finish(self, json: bool) -> Result<(), Failure> {
        let worst = self.0.iter().map(|finding| finding.verdict).max().unwrap_or(Verdict::Ok);
        if json {
            output::print_json(&serde_json::json!({ "verdict": worst, "findings": self.0 }))?;
        } else {
            output::print(&self.text())?;
        }
        let errors = self.0.iter().filter(|finding| finding.verdict == Verdict::Error).count();
        match errors {
            0 => Ok(()),
            1 => Err(Failure::work("1 problem found")),
            _ => Err(Failure::work(format!("{errors} problems found"))),
        }
    }

    fn text(&self) -> String {
        let lines = |Finding { check, verdict, message, keys }: &Finding| {
            let verdict = match verdict {
                #[cfg(feature = "oauth")]
                Verdict::NotReached => "-",
                Verdict::Ok => "ok",
                Verdict::Warning => "warning",
                Verdict::Error => "ERROR",
            };
            let keys: String = keys.iter().map(|key| format!("{:22}{key}\n", "")).collect();
            format!("{verdict:7}  {check:11}  {message}\n{keys}")
        };
        self.0.iter().map(lines).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Report {
        pub(crate) fn verdicts(&self) -> Vec<Verdict> {
            self.0.iter().map(|finding| finding.verdict).collect()
        }
    }
}
