//! [`Report`]: what was found, for people and for programs.

use serde::Serialize;

use crate::exit::Failure;
use crate::output;
use crate::text::printable;

/// How bad something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Verdict {
    Ok,
    /// The server works, and somebody should look at it.
    Warning,
    /// The server does not work, or not as it should.
    Fault,
}

/// What one check found.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    pub(super) check: &'static str,
    pub(super) verdict: Verdict,
    pub(super) message: String,
}

/// All findings, in the order of the checks.
#[derive(Debug, Default)]
pub(super) struct Report(Vec<Finding>);

impl Report {
    pub(super) fn fine(&mut self, check: &'static str, message: String) {
        self.0.push(Finding { check, verdict: Verdict::Ok, message });
    }

    pub(super) fn warning(&mut self, check: &'static str, message: String) {
        self.0.push(Finding { check, verdict: Verdict::Warning, message });
    }

    pub(super) fn fault(&mut self, check: &'static str, message: String) {
        self.0.push(Finding { check, verdict: Verdict::Fault, message });
    }

    /// Prints the findings; a failure where there is a fault.
    pub(super) fn finish(self, json: bool) -> Result<(), Failure> {
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
            format!("{verdict:7}  {check:11}  {}\n", printable(message))
        };
        self.0.iter().map(line).collect()
    }

    #[cfg(test)]
    pub(super) fn verdicts(&self) -> Vec<Verdict> {
        self.0.iter().map(|finding| finding.verdict).collect()
    }
}
