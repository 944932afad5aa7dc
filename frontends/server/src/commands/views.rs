//! `catalogue views`

use catalogue_core::AccountId;
use catalogue_core::auth::{Identity, Scope, Scopes};
use catalogue_core::storage::{CheckedRows, ViewAdvice, ViewFault};
use http::{Request, StatusCode};
use serde_json::json;

use super::{Context, accounts, block_on};
use crate::cli::{Example, ViewsCommand};
use crate::database::{Database, Storage, Unopened};
use crate::exit::{Failure, harmless};
use crate::output;
use crate::settings::table::COURSES;

pub(super) fn run(command: ViewsCommand, context: &Context) -> Result<(), Failure> {
    match command {
        ViewsCommand::Example(arguments) => example(&arguments, context),
        ViewsCommand::Check { all, json } => {
            let database = database(context)?;
            block_on(async { check(database.open().await, all, json).await })
        }
        ViewsCommand::Show { account, .. } => {
            let database = database(context)?;
            block_on(async { show(database.open().await?, &account).await })
        }
    }
}

fn database(context: &Context) -> Result<Database, Failure> {
    const NO_VIEWS: &str = "courses are in tables of this program; say where the views are, with --courses views";
    let database = context.database()?;
    if context.settings.get(&COURSES) { Ok(database) } else { Err(Failure::usage(NO_VIEWS)) }
}

fn example(arguments: &Example, context: &Context) -> Result<(), Failure> {
    let named = context.settings.named_database();
    context.settings.finish()?;
    let is_postgres = matches!(named, Some(Database::Postgres(_)));
    output::print(arguments.text(arguments.sql.as_deref().unwrap_or(if is_postgres { "postgres" } else { "sqlite" })))
}

async fn check(opened: Result<Storage, Unopened>, all: bool, json: bool) -> Result<(), Failure> {
    let rows = if all { CheckedRows::All } else { CheckedRows::Sample };
    let (faults, advice) = match opened {
        Ok(storage) => {
            let Some(views) = storage.views() else { return Ok(()) };
            let faults = views.check_views(rows).await?;
            let mut advice = views.check_columns().await?;
            advice.extend(views.check_revisions().await?);
            (faults, advice)
        }
        Err(unopened) if unopened.views.is_empty() => return Err(unopened.into()),
        Err(unopened) => (unopened.views, Vec::new()),
    };
    let advice: Vec<String> = advice.iter().map(advised).collect();
    if json {
        let fault = |ViewFault { view, key, what, wanted }: &ViewFault| {
            let key = key.as_deref().map(harmless);
            json!({ "view": view, "key": key, "what": harmless(what), "wanted": harmless(wanted) })
        };
        let mut report = json!({ "all": all, "faults": faults.iter().map(fault).collect::<Vec<_>>() });
        if !advice.is_empty() {
            report["advice"] = json!(advice);
        }
        output::print_json(&report)?;
    } else if faults.is_empty() {
        let looked = if all { "each row" } else { "at most 10,000 rows of each; --all looks at the others too" };
        output::print(&format!("the API can serve what the views have: {looked}"))?;
    } else {
        output::print(&faults.iter().map(|fault| told(fault) + "\n").collect::<String>())?;
    }
    if !json {
        advice.iter().try_for_each(|advice| output::print(advice))?;
    }
    if faults.is_empty() { Ok(()) } else { Err(Failure::work("the views have faults to mend")) }
}

/// Formats a problem on one line.
pub(super) fn told(fault: &ViewFault) -> String {
    harmless(&fault.to_string())
}

/// Formats advice on one line.
pub(super) fn advised(ViewAdvice { about, what, remedy }: &ViewAdvice) -> String {
    let remedy = remedy.as_ref().map(|remedy| format!("; {remedy}")).unwrap_or_default();
    harmless(&format!("{about}: {what}{remedy}"))
}

/// Prints the API's response to a request for the account's courses.
async fn show(storage: Storage, account: &String) -> Result<(), Failure> {
    accounts::find(&storage, std::slice::from_ref(account)).await?;
    let catalogue = storage.catalogue().build()?;
    let caller = Identity::session(AccountId::new(&**account), "operator", Scopes::from_iter([Scope::ReadCourses]));
    let request = Request::get("/api/v1/courses").body(())?;
    let answer = catalogue.call_as(caller, request).await;
    if answer.status() != StatusCode::OK {
        let status = answer.status().as_u16();
        return Err(Failure::work(format!(
            "the API answers {status}; the log says why, and `views check` what is right"
        )));
    }
    output::print(&String::from_utf8_lossy(answer.body()))
}
