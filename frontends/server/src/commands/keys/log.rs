//! `catalogue keys log`

use catalogue_core::AccountId;
use catalogue_core::storage::CredentialEvent;

use super::minute;
use crate::cli::ShowLog;
use crate::commands::accounts;
use crate::commands::table::{self, Column};
use crate::database::Storage;
use crate::exit::Failure;
use crate::output;

const COLUMNS: [Column; 5] = [
    Column::Whole("TIME (UTC)"),
    Column::Whole("ACTION"),
    Column::Cut("ACTOR"),
    Column::Optional("KEY", 0),
    Column::Cut("NAME"),
];

pub(super) async fn run(storage: &Storage, log: &ShowLog) -> Result<(), Failure> {
    accounts::check_known(storage, &log.account).await?;
    let events = storage.keys().list_events(&AccountId::new(&*log.account), usize::MAX).await;
    let events = events.map_err(|error| Failure::because(&error))?;
    if log.json {
        return output::print_json(&events);
    }
    let (text, _) = table::fitted(&COLUMNS, events.into_iter().map(row).collect(), output::terminal_width());
    output::print(&text)
}

fn row(event: CredentialEvent) -> Vec<String> {
    let key = event.credential_id.as_deref().unwrap_or("-").to_owned();
    let name = event.name.unwrap_or_else(|| "-".to_owned());
    vec![minute(event.at), event.action.name().to_owned(), event.actor.as_str().to_owned(), key, name]
}
