//! `catalogue views`

use catalogue_core::auth::{Identity, Scope, Scopes};
use catalogue_core::storage::{CheckedRows, ViewAdvice, ViewProblem};
use http::{Request, StatusCode};
use serde_json::json;

use super::{Context, accounts, block_on};
use crate::cli::{Example, ViewsCommand};
use crate::database::{Database, Migration, OpenFailure, Storage};
use crate::exit::{Failure, sanitized};
use crate::output;
use crate::settings::table::VIEWS;

/// Maximum number of printed problems that have the same fix.
const MAX_OF_KIND: usize = 3;

pub(super) fn run(command: ViewsCommand, context: &Context) -> Result<(), Failure> {
    match command {
        ViewsCommand::Example(arguments) => example(&arguments, context),
        ViewsCommand::Check { all, json } => {
            let database = database(context)?;
            block_on(async { check(database.open_for(Migration::Unneeded).await, all, json).await })
        }
        ViewsCommand::Show { account, .. } => {
            let database = database(context)?;
            block_on(async { show(database.open_for(Migration::Unneeded).await?, &account).await })
        }
    }
}

fn database(context: &Context) -> Result<Database, Failure> {
    const NO_VIEWS: &str = "courses are in the catalogue's own tables; for views, pass --courses views";
    let database = context.database()?;
    if context.settings.get(&VIEWS) { Ok(database) } else { Err(Failure::usage(NO_VIEWS)) }
}

fn example(arguments: &Example, context: &Context) -> Result<(), Failure> {
    let named = context.settings.named_database();
    context.settings.finish()?;
    let is_postgres = matches!(named, Some(Database::Postgres(_)));
    output::print(arguments.text(arguments.sql.as_deref().unwrap_or(if is_postgres { "postgres" } else { "sqlite" })))
}

async fn check(opened: Result<Storage, OpenFailure>, all: bool, json: bool) -> Result<(), Failure> {
    let rows = if all { CheckedRows::All } else { CheckedRows::Sample };
    let (problems, advice) = match opened {
        Ok(storage) => {
            let Some(views) = storage.views() else { return Ok(()) };
            let problems = views.check_views(rows).await?;
            let mut advice = views.check_columns().await?;
            advice.extend(views.check_revisions().await?);
            (problems, advice)
        }
        Err(open_failure) if open_failure.views.is_empty() => return Err(open_failure.into()),
        Err(open_failure) => (open_failure.views, Vec::new()),
    };
    let advice: Vec<String> = advice.iter().map(format_advice).collect();
    if json {
        let to_json = |ViewProblem { view, key, problem, expected }: &ViewProblem| {
            let key = key.as_deref().map(sanitized);
            json!({ "view": view, "key": key, "problem": sanitized(problem), "expected": sanitized(expected) })
        };
        let problems: Vec<_> = problems.iter().map(to_json).collect();
        output::print_json(&json!({ "all": all, "problems": problems, "advice": advice }))?;
    } else if problems.is_empty() {
        let scope = if all { "all rows" } else { "up to 10,000 rows of each view; use --all to check all" };
        output::print(&format!("the API can serve the views: checked {scope}"))?;
    } else {
        output::print(&format_problems(&problems))?;
    }
    if !json {
        advice.iter().try_for_each(|advice| output::print(advice))?;
    }
    if problems.is_empty() { Ok(()) } else { Err(Failure::work("the views have problems")) }
}

/// Formats the first problems of each kind, and the number of the others.
fn format_problems(problems: &[ViewProblem]) -> String {
    let is_same = |one: &ViewProblem, other: &ViewProblem| (one.view, &one.expected) == (other.view, &other.expected);
    let lines = problems.iter().enumerate().filter_map(|(index, problem)| {
        let (before, rest) = problems.split_at(index);
        match before.iter().filter(|other| is_same(problem, other)).count() {
            ..MAX_OF_KIND => Some(format_problem(problem)),
            MAX_OF_KIND => {
                let others = rest.iter().filter(|other| is_same(problem, other)).count();
                Some(sanitized(&format!("{}: {others} more; {}", problem.view, problem.expected)))
            }
            _ => None,
        }
    });
    lines.map(|line| line + "\n").collect()
}

/// Formats a problem on one line.
pub(super) fn format_problem(problem: &ViewProblem) -> String {
    sanitized(&problem.to_string())
}

/// Formats advice on one line.
pub(super) fn format_advice(ViewAdvice { subject, finding, fix }: &ViewAdvice) -> String {
    let fix = fix.as_ref().map(|fix| format!("; {fix}")).unwrap_or_default();
    sanitized(&format!("{subject}: {finding}{fix}"))
}

/// Prints the API's response to a request for the account's courses.
async fn show(storage: Storage, account: &str) -> Result<(), Failure> {
    let id = accounts::with_name(&storage, account).await?.id;
    let catalogue = storage.catalogue().build()?;
    let caller = Identity::session(id, "operator", Scopes::from_iter([Scope::ReadCourses]));
    let request = Request::get("/api/v1/courses").body(())?;
    let response = catalogue.call_as(caller, request).await;
    match response.status() {
        StatusCode::OK => output::print(&String::from_utf8_lossy(response.body())),
        status => Err(Failure::work(format!("the API returned {status}; see the log, and run `views check`"))),
    }
}
