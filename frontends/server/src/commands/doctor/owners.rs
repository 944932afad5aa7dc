//! Reports keys whose account has left the views: a new account with the same id would own them.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use catalogue_core::Timestamp;
use catalogue_core::admin::{Accounts, CredentialRecord};

use super::credentials::KeySample;
use crate::commands::accounts;
use crate::database::Storage;
use crate::exit::Failure;
use crate::report::{NamedKey, Report};

const CHECK: &str = "owners";

pub(super) async fn check(storage: &Storage, now: Timestamp, report: &mut Report) {
    if storage.views().is_none() {
        return;
    }
    match find(storage, now).await {
        Err(failure) => report.error(CHECK, failure.message()),
        Ok(KeySample { count: 0, .. }) => report.ok(CHECK, "catalogue_accounts has the account of each active key"),
        Ok(KeySample { count, first }) => {
            let what = "active keys whose account is not in catalogue_accounts";
            let why = "a new account with the same id would own them; revoke them with `keys revoke`";
            report.warning(CHECK, format!("{what}: {count}; {why}"));
            report.add_keys(first.into_iter());
        }
    }
}

async fn find(storage: &Storage, now: Timestamp) -> Result<KeySample, Failure> {
    let mut owners = BTreeSet::new();
    let mut visit = |record: CredentialRecord| {
        if record.state(now).is_active() {
            owners.insert(record.identity.account);
        }
        ControlFlow::Continue(())
    };
    storage.admin().visit_credentials(Accounts::All, &mut visit).await?;
    let missing: Vec<_> = accounts::missing_accounts(storage, owners).await?.into_iter().collect();
    let mut found = KeySample::default();
    let mut visit = |record: CredentialRecord| {
        if record.state(now).is_active() {
            found.add(NamedKey::from(&record));
        }
        ControlFlow::Continue(())
    };
    storage.admin().visit_credentials(Accounts::Only(&missing), &mut visit).await?;
    Ok(found)
}
