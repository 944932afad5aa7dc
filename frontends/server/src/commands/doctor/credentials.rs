//! How many credentials end soon, and how many never do.

use std::ops::ControlFlow;
use std::time::Duration;

use catalogue_core::admin::{AdminStorage, Record};
use catalogue_core::storage::StorageError;
use catalogue_core::{AccountId, Timestamp};

use crate::exit::chain;
use crate::report::Report;

const CHECK: &str = "credentials";
const SOON: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// The credentials of more accounts are not looked at: each takes a read of its own.
const MOST_ACCOUNTS: usize = 10_000;

#[derive(Debug, Default)]
struct Counts {
    usable: usize,
    expire_soon: usize,
    never_expire: usize,
}

pub(super) async fn look(storage: &dyn AdminStorage, now: Timestamp, report: &mut Report) {
    match count(storage, now).await {
        Err(error) => report.fault(CHECK, chain(&error)),
        Ok((_, Counts { usable: 0, .. })) => {
            report.warning(CHECK, "there is none to call the API with; `keys create` makes one");
        }
        Ok((all, Counts { usable, expire_soon, never_expire })) => {
            let of = if all { "" } else { " of the first accounts" };
            let text = format!("usable{of}: {usable}; expiring within 7 days: {expire_soon}, never: {never_expire}");
            match expire_soon {
                0 => report.fine(CHECK, text),
                _ => report.warning(CHECK, format!("{text}; `keys rotate` makes successors")),
            }
        }
    }
}

/// Counts, and says whether that is all.
async fn count(storage: &dyn AdminStorage, now: Timestamp) -> Result<(bool, Counts), StorageError> {
    let (accounts, all) = accounts(storage).await?;
    let mut counts = Counts::default();
    for account in &accounts {
        let records = storage.list_credentials(account).await?.unwrap_or_default();
        for record in records.iter().filter(|record| record.revoked_at.is_none()) {
            match record.expires_at {
                Some(end) if end <= now => continue,
                Some(end) if now.checked_add(SOON).is_none_or(|soon| end <= soon) => counts.expire_soon += 1,
                Some(_) => {}
                None => counts.never_expire += 1,
            }
            counts.usable += 1;
        }
    }
    Ok((all, counts))
}

/// An export begins with the accounts; what follows is not read.
async fn accounts(storage: &dyn AdminStorage) -> Result<(Vec<AccountId>, bool), StorageError> {
    let (mut accounts, mut all) = (Vec::new(), true);
    let mut visit = |record| match record {
        Record::Account(account) if accounts.len() < MOST_ACCOUNTS => {
            accounts.push(account.id);
            ControlFlow::Continue(())
        }
        Record::Account(_) => {
            all = false;
            ControlFlow::Break(())
        }
        _ => ControlFlow::Break(()),
    };
    storage.export(&mut visit).await?;
    Ok((accounts, all))
}
