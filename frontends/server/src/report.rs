//! [`Report`]: what was found, for people and for programs.

use serde::Serialize;

use crate::exit::{Failure, harmless};
use crate::output;

/// How bad something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    Ok,
    /// The server works, and somebody should look at it.
    Warning,
    /// The server does not work, or not as it should.
    Fault,
}

/// What one check found.
#[derive(Debug, Serialize)]
struct Finding {
    check: &'static str,
    verdict: Verdict,
    message: String,
}

/// All findings, in the order of the checks.
#[derive(Debug, Default)]
pub(crate) struct Report(Vec<Finding>);

impl Report {
    pub(crate) fn fine(&mut self, check: &'static str, message: impl AsRef<str>) {
        self.add(check, Verdict::Ok, message.as_ref());
    }

    pub(crate) fn warning(&mut self, check: &'static str, message: impl AsRef<str>) {
        self.add(check, Verdict::Warning, message.as_ref());
    }

    pub(crate) fn fault(&mut self, check: &'static str, message: impl AsRef<str>) {
        self.add(check, Verdict::Fault, message.as_ref());
    }

    fn add(&mut self, check: &'static str, verdict: Verdict, message: &str) {
        self.0.push(Finding { check, verdict, message: harmless(message) });
    }

    /// Prints the findings; a failure where there is a fault.
    pub(crate) fn finish(self, json: bool) -> Result<(), Failure> {
        let worst = self.0.iter().map(|finding| finding.verdict).max().unwrap_or(Verdict::Ok);
        if json {
            output::print_json(&serde_json::json!({ "verdict": worst, "findings": self.0 }))?;
        } else {
            output::print(&self.text())?;
        }
        let faults = self.0.iter().filter(|finding| finding.verdict == Verdict::Fault).count();
        match faults {
            0 => Ok(()),
            1 => Err(Failure::work("there is 1 fault to mend")),
            _ => Err(Failure::work(format!("there are {faults} faults to mend"))),
        }
    }

    fn text(&self) -> String {
        let line = |Finding { check, verdict, message }: &Finding| {
            let verdict = match verdict {
                Verdict::Ok => "ok",
                Verdict::Warning => "warning",
                Verdict::Fault => "FAULT",
            };
            format!("{verdict:7}  {check:11}  {message}\n")
        };
        self.0.iter().map(line).collect()
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
