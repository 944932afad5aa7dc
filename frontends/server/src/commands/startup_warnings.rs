//! Texts that `serve` logs at startup: the URL of the documents, and warnings about common oversights.

use std::net::SocketAddr;
use std::ops::ControlFlow;

use catalogue_core::Timestamp;
use catalogue_core::admin::{Accounts, AdminStorage, CredentialRecord};
use catalogue_core::storage::StorageError;
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;

use super::serving::reachable_address;
use super::views::format_advice;
use crate::database::{Database, Storage};
use crate::settings::ServeSettings;

/// Warning about tokens that others on the network can read.
pub(super) const CLEARTEXT: &str = "clients send tokens in cleartext over the network; set --tls-cert and --tls-key, \
    or --trusted-proxies if a proxy speaks TLS";

/// Returns the URL of the documents for a browser on this machine.
pub(super) fn documents(settings: &ServeSettings, listening: SocketAddr, secured: bool) -> String {
    let docs_url = &settings.api.docs_url;
    if !docs_url.starts_with('/') {
        return docs_url.clone();
    }
    format!("{}://{}{docs_url}", if secured { "https" } else { "http" }, reachable_address(listening))
}

/// Returns whether clients send tokens to this address in cleartext, without a proxy.
pub(super) fn in_cleartext(settings: &ServeSettings, listening: SocketAddr, secured: bool) -> bool {
    !secured && settings.server.trusted_proxies.is_empty() && !listening.ip().to_canonical().is_loopback()
}

/// Warns that a new database was created, perhaps in an unintended directory.
pub(super) fn warn_new_database(database: &Database) {
    let has_views = matches!(database, Database::File { courses: Some(_), .. });
    let fill = if has_views { "" } else { "fill it with `import`, and " };
    tracing::warn!(%database, "created a new database, so API keys get a 401; {fill}create a key with `keys create`");
}

/// Warns if the storage has no active credential. Runs on a blocking thread, because the storage may block.
pub(super) fn warn_if_no_keys(storage: Box<dyn AdminStorage>) {
    spawn_blocking(move || match Handle::current().block_on(has_no_active_key(&*storage)) {
        Ok(true) => tracing::warn!("no API key is active, so API keys get a 401; create one with `keys create`"),
        Ok(false) => {}
        Err(error) => tracing::debug!(%error, "cannot check for active keys"),
    });
}

/// Warns of views with missing columns, unreliable revisions or slow requests. The startup does not wait for the checks.
pub(super) fn warn_about_views(storage: Storage) {
    spawn_blocking(move || {
        let Some(views) = storage.views() else { return };
        for check in [views.check_columns(), views.check_revisions(), views.check_plans()] {
            let found = Handle::current().block_on(check);
            match found {
                Ok(advice) => advice.iter().for_each(|advice| tracing::warn!("views: {}", format_advice(advice))),
                Err(error) => tracing::debug!(%error, "cannot check the views"),
            }
        }
    });
}

async fn has_no_active_key(storage: &dyn AdminStorage) -> Result<bool, StorageError> {
    let (now, mut found) = (Timestamp::now(), false);
    let mut visit = |key: CredentialRecord| {
        found = key.state(now).is_active();
        if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    storage.visit_credentials(Accounts::All, &mut visit).await?;
    Ok(!found)
}
