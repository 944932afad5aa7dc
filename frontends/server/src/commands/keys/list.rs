//! `catalogue keys list` and `catalogue tokens list`

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use catalogue_core::admin::{Accounts, CredentialRecord};
use catalogue_core::auth::CredentialKind;
use catalogue_core::{AccountId, Timestamp};

use super::{minute, minute_or_never};
use crate::cli::ListKeys;
use crate::commands::{accounts, credentials, table};
use crate::database::Storage;
use crate::exit::Failure;
use crate::output;
use crate::text::printable;

/// Headings of the table. It omits the kind, which the id implies; `--json` shows everything.
const HEADINGS: [&str; 10] = [
    "ID",
    "ACCOUNT",
    "NAME",
    "PREFIX",
    "SCOPES",
    "CREATED (UTC)",
    "LAST USED (UTC)",
    "STATE",
    "END (UTC)",
    "SUCCESSOR",
];

pub(super) async fn run(storage: &Storage, list: &ListKeys, kind: Option<CredentialKind>) -> Result<(), Failure> {
    let now = Timestamp::now();
    let (mut records, mut predecessors) = (Vec::new(), HashMap::new());
    let mut take = |record: CredentialRecord| {
        if let Some(successor) = &record.replaced_by {
            predecessors.insert(Arc::clone(successor), Arc::clone(&record.identity.credential_id));
        }
        if kind.is_none_or(|kind| record.identity.kind == kind) && matches_options(&record, list, now) {
            records.push(record);
        }
        ControlFlow::Continue(())
    };
    let named = list.account.as_ref().map(|account| [AccountId::new(&**account)]);
    let selection = named.as_ref().map_or(Accounts::All, |account| Accounts::Only(account));
    if let Some(account) = &list.account {
        accounts::check_known(storage, account).await?;
    }
    storage.admin().visit_credentials(selection, &mut take).await?;
    if list.json {
        let replaces = |record: &CredentialRecord| predecessors.get(&record.identity.credential_id).map(|id| &**id);
        let items = records.iter().map(|record| credentials::to_json(record, replaces(record), now));
        return output::print_json(&items.collect::<Vec<_>>());
    }
    output::print(&table::aligned(HEADINGS, records.iter().map(|record| row(record, now))))?;
    note_ownerless(storage, &records, now).await
}

/// Prints a note on active keys whose account has left the views.
async fn note_ownerless(storage: &Storage, records: &[CredentialRecord], now: Timestamp) -> Result<(), Failure> {
    let active = || records.iter().filter(|record| record.state(now).is_active()).map(|record| &record.identity);
    let owners = active().map(|identity| identity.account.clone()).collect();
    let missing = accounts::missing_accounts(storage, owners).await?;
    let ids: Vec<_> = active().filter(|key| missing.contains(&key.account)).map(|key| &*key.credential_id).collect();
    if !ids.is_empty() {
        let what = "the view catalogue_accounts does not contain the account of";
        output::print_note(&printable(&format!("{what} {}; revoke keys that should not outlive it", ids.join(", "))));
    }
    Ok(())
}

/// Returns whether the options select the credential. Each filter also excludes credentials that are not active.
fn matches_options(record: &CredentialRecord, list: &ListKeys, now: Timestamp) -> bool {
    let ends_within = |time| record.expires_at.is_some_and(|end| now.checked_add(time).is_none_or(|then| end <= then));
    let is_unused = |time: Duration| {
        let last = record.last_used_at.unwrap_or(record.created_at);
        last.checked_add(time).is_some_and(|then| then <= now)
    };
    (list.expiring.is_none() && list.unused.is_none() && !list.never_used || record.state(now).is_active())
        && list.expiring.is_none_or(ends_within)
        && list.unused.is_none_or(is_unused)
        && !(list.never_used && record.last_used_at.is_some())
}

fn row(record: &CredentialRecord, now: Timestamp) -> [String; 10] {
    [
        record.identity.credential_id.to_string(),
        record.identity.account.to_string(),
        record.name.clone().unwrap_or_else(|| "-".to_owned()),
        record.shown_prefix.clone(),
        record.identity.scopes.to_string(),
        minute(record.created_at).split(' ').next().unwrap_or_default().to_owned(),
        minute_or_never(record.last_used_at),
        record.state(now).name().to_owned(),
        record.revoked_at.or(record.expires_at).map_or_else(|| "-".to_owned(), minute),
        record.replaced_by.as_deref().unwrap_or("-").to_owned(),
    ]
}
