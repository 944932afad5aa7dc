//! Checks whether the API can serve the views over another program's tables. Reports advice on caching, speed and privileges.

use catalogue_core::storage::{CheckedRows, CourseViews, StorageError, ViewAdvice, ViewProblem};

use crate::commands::views::{format_advice, format_problem};
use crate::exit::chain;
use crate::report::Report;

/// Maximum number of reported problems; `views check` prints the others, too.
const MAX_REPORTED: usize = 10;
const CHECK: &str = "views";

pub(super) async fn check(views: &dyn CourseViews, report: &mut Report) {
    match views.check_views(CheckedRows::Sample).await {
        Ok(problems) if problems.is_empty() => report.ok(CHECK, "the API can serve all checked rows"),
        Ok(problems) => {
            report_problems(&problems, report);
            // A problem without a key concerns a view or a column, not a row: without them, there is nothing else to check.
            if problems.iter().any(|problem| problem.key.is_none()) {
                return;
            }
        }
        Err(error) => return report.error(CHECK, chain(&error)),
    }
    advise("columns", "`catalogue_courses` has `module_count`", views.check_columns().await, report);
    let revisions = "`catalogue_revisions` is reliable, or not used";
    advise("revisions", revisions, views.check_revisions().await, report);
    advise("plans", "no request scans a table or sorts", views.check_plans().await, report);
    advise("rights", "the role has the required privileges and no others", views.check_rights().await, report);
}

/// Reports the first `problems`, and the number of further ones.
pub(super) fn report_problems(problems: &[ViewProblem], report: &mut Report) {
    problems.iter().take(MAX_REPORTED).for_each(|problem| report.error(CHECK, format_problem(problem)));
    if problems.len() > MAX_REPORTED {
        report.error(CHECK, format!("{} more; see `views check`", problems.len() - MAX_REPORTED));
    }
}

fn advise(check: &'static str, fine: &str, found: Result<Vec<ViewAdvice>, StorageError>, report: &mut Report) {
    match found {
        Ok(advice) if advice.is_empty() => report.ok(check, fine),
        Ok(advice) => advice.iter().for_each(|advice| report.warning(check, format_advice(advice))),
        Err(error) => report.warning(check, format!("cannot check the {check}: {}", chain(&error))),
    }
}
