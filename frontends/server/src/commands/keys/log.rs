//! `catalogue keys log`

use catalogue_core::AccountId;
use catalogue_core::storage::CredentialEvent;

use super::minute;
use crate::commands::{accounts, table};
use crate::database::Storage;
use crate::exit::Failure;
use crate::output;

const HEADINGS: [&str; 5] = ["TIME (UTC)", "ACTION", "ACTOR", "KEY", "NAME"];

pub(super) async fn run(storage: &Storage, account: &String, json: bool) -> Result<(), Failure> {
    accounts::check_known(storage, account).await?;
    let events = storage.keys().list_events(&AccountId::new(&**account), usize::MAX).await?;
    if json {
        return output::print_json(&events);
    }
    output::print(&table::aligned(HEADINGS, events.into_iter().map(row)))
}

fn row(event: CredentialEvent) -> [String; 5] {
    let key = event.credential_id.as_deref().unwrap_or("-").to_owned();
    let name = event.name.unwrap_or_else(|| "-".to_owned());
    [minute(event.at), event.action.name().to_owned(), event.actor.as_str().to_owned(), key, name]
}
