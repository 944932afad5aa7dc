//! Checks whether the views over another program's tables can be served, and how fast.

use catalogue_core::storage::{CheckedRows, CourseViews, StorageError, ViewAdvice, ViewProblem};

use crate::commands::views::{format_advice, format_problem};
use crate::exit::chain;
use crate::report::Report;

/// Maximum number of reported problems; `views check` lists all.
const MAX_REPORTED: usize = 10;
const CHECK: &str = "views";

pub(super) async fn check(views: &dyn CourseViews, report: &mut Report) {
    match views.check_views(CheckedRows::Sample).await {
        Ok(faults) if faults.is_empty() => report.ok(CHECK, "the API can serve what they have"),
        Ok(faults) => {
            report_problems(&faults, report);
            // Views that are missing or of a wrong type have no query plans to check.
            if faults.iter().any(|fault| fault.key.is_none()) {
                return;
            }
        }
        Err(error) => return report.error(CHECK, chain(&error)),
    }
    advise("columns", "`catalogue_courses` has `module_count`", views.check_columns().await, report);
    let revisions = "`catalogue_revisions` can be relied on, or is not used";
    advise("revisions", revisions, views.check_revisions().await, report);
    advise("plans", "no request scans a table or sorts", views.check_plans().await, report);
    advise("rights", "the role may do what it must, and no more", views.check_rights().await, report);
}

/// Reports what the API could not serve.
pub(super) fn report_problems(faults: &[ViewProblem], report: &mut Report) {
    faults.iter().take(MAX_REPORTED).for_each(|fault| report.error(CHECK, format_problem(fault)));
    if faults.len() > MAX_REPORTED {
        report.error(CHECK, format!("{} more; `views check` tells them", faults.len() - MAX_REPORTED));
    }
}

fn advise(check: &'static str, fine: &str, found: Result<Vec<ViewAdvice>, StorageError>, report: &mut Report) {
    match found {
        Ok(advice) if advice.is_empty() => report.ok(check, fine),
        Ok(advice) => advice.iter().for_each(|advice| report.warning(check, format_advice(advice))),
        Err(error) => report.warning(check, format!("cannot be looked at: {}", chain(&error))),
    }
}
