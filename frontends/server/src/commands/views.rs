//! `catalogue views`

use catalogue_core::AccountId;
use catalogue_core::auth::{Identity, Scope, Scopes};
use catalogue_core::storage::{CheckedRows, ViewFault};
use http::{Request, StatusCode};
use serde_json::{Value, json};

use super::{Context, accounts, block_on};
use crate::cli::{Example, Sql, ViewsCommand};
use crate::database::{Database, Storage, Unopened};
use crate::exit::{Failure, harmless};
use crate::output;
use crate::report::no_faults;
use crate::settings::table::COURSES;

pub(super) fn run(command: ViewsCommand, context: &Context) -> Result<(), Failure> {
    match command {
        ViewsCommand::Example(arguments) => example(&arguments, context),
        ViewsCommand::Check { all, json } => {
            let database = database(context)?;
            block_on(async { check(database.open().await, all, json).await })
        }
        ViewsCommand::Show { account, json } => {
            let database = database(context)?;
            block_on(async { show(database.open().await?, &account, json).await })
        }
    }
}

fn example(arguments: &Example, context: &Context) -> Result<(), Failure> {
    let named = context.settings.named_database();
    context.settings.finish()?;
    let sql = arguments.sql.unwrap_or(match named {
        Some(Database::Postgres(_)) => Sql::Postgres,
        _ => Sql::Sqlite,
    });
    output::print(arguments.text(sql))
}

fn database(context: &Context) -> Result<Database, Failure> {
    let database = context.database()?;
    if !context.settings.get(&COURSES) {
        return Err(Failure::usage(
            "courses are in tables of this program; say where the views are, as to `serve`, with --courses views",
        ));
    }
    Ok(database)
}

async fn check(opened: Result<Storage, Unopened>, all: bool, json: bool) -> Result<(), Failure> {
    let rows = if all { CheckedRows::All } else { CheckedRows::Sample };
    let faults = match opened {
        Ok(storage) => {
            let Some(views) = storage.views() else { return Ok(()) };
            views.check_views(rows).await.map_err(|error| Failure::because(&error))?
        }
        Err(unopened) if unopened.views.is_empty() => return Err(unopened.into()),
        Err(unopened) => unopened.views,
    };
    if json {
        let fault = |ViewFault { view, key, what, wanted }: &ViewFault| {
            let key = key.as_deref().map(harmless);
            json!({ "view": view, "key": key, "what": harmless(what), "wanted": harmless(wanted) })
        };
        output::print_json(&json!({ "all": all, "faults": faults.iter().map(fault).collect::<Vec<_>>() }))?;
    } else if faults.is_empty() {
        let looked = if all { "each row" } else { "at most 10,000 rows of each; --all looks at the others too" };
        output::print(&format!("the API can serve what the views have: {looked}"))?;
    } else {
        output::print(&faults.iter().map(|fault| told(fault) + "\n").collect::<String>())?;
    }
    no_faults(faults.len())
}

/// A fault in one line.
pub(super) fn told(ViewFault { view, key, what, wanted }: &ViewFault) -> String {
    let key = key.as_ref().map(|key| format!(" ({key})")).unwrap_or_default();
    harmless(&format!("{view}{key}: {what}; {wanted}"))
}

/// What the API answers the account whose list of courses is asked for.
async fn show(storage: Storage, account: &String, json: bool) -> Result<(), Failure> {
    accounts::find(storage.admin(), std::slice::from_ref(account)).await?;
    let catalogue = storage.catalogue().build().map_err(|error| Failure::because(&error))?;
    let caller = Identity::session(AccountId::new(&**account), "operator", Scopes::from_iter([Scope::ReadCourses]));
    let request = Request::get("/api/v1/courses").body(()).map_err(|error| Failure::because(&error))?;
    let answer = catalogue.call_as(caller, request).await;
    if answer.status() != StatusCode::OK {
        let status = answer.status().as_u16();
        return Err(Failure::work(format!(
            "the API answers {status}; the log says why, and `views check` what is right"
        )));
    }
    let text = String::from_utf8_lossy(answer.body());
    if json {
        return output::print(&text);
    }
    let page: Value = serde_json::from_str(&text).map_err(|error| Failure::because(&error))?;
    output::print(&serde_json::to_string_pretty(&page).map_err(|error| Failure::because(&error))?)
}
