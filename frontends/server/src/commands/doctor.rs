//! `catalogue doctor`

mod certificate;
mod clock;
mod credentials;
mod database;
mod listeners;
mod owners;
mod views;

use std::time::SystemTime;

use super::{Context, block_on};
use crate::exit::Failure;
#[cfg(feature = "oauth")]
use crate::issuer;
use crate::permissions;
use crate::report::Report;
use crate::settings::table::{TLS_CERT, TLS_KEY};
use crate::settings::{ServeSettings, Settings};

/// Runs all checks. Invalid settings end the command; an unusable certificate is a finding, and the other checks still run.
pub(super) fn run(json: bool, context: &Context) -> Result<(), Failure> {
    let mut report = Report::default();
    let settings = ServeSettings::read(&context.settings);
    settings.check_listeners(&context.settings, None);
    context.settings.finish()?;
    check_secret_files(&context.settings, &mut report);
    let tls = settings.tls().unwrap_or_else(|error| {
        report.error("certificate", context.settings.sourced(&[&TLS_CERT, &TLS_KEY], &error));
        None
    });
    if let Some(tls) = &tls {
        certificate::check(tls, &settings.api.base_url, &mut report);
    }
    clock::check(SystemTime::now(), &mut report);
    check_open_file_limit(&settings, &mut report);
    listeners::check(&settings, tls.is_some(), &mut report);
    block_on(async {
        check_rate_limit_store(&settings, &mut report).await;
        #[cfg(feature = "oauth")]
        if let Some(options) = &settings.api.issuer {
            issuer::check(options, &settings.api.base_url, &mut report).await;
        }
        database::check(&settings.database, settings.migration, &mut report).await;
        Ok(())
    })?;
    report.finish(json)
}

/// Reports the permissions of secret files: the TLS key, files named by `file:`, a configuration file with a password.
fn check_secret_files(settings: &Settings, report: &mut Report) {
    let mut files = settings.layers.secret_files();
    files.extend(settings.given(&TLS_KEY));
    files.iter().for_each(|file| permissions::check_file(file, report));
}

async fn check_rate_limit_store(settings: &ServeSettings, report: &mut Report) {
    const CHECK: &str = "rate limit";
    let limiting = &settings.api.rate_limiting;
    match limiting.check_store().await {
        None => {}
        Some(Ok(())) => report.ok(CHECK, format!("{limiting} is in force")),
        Some(Err(why)) => report.warning(CHECK, format!("requests are not limited to {limiting}: {why}")),
    }
}

fn check_open_file_limit(settings: &ServeSettings, report: &mut Report) {
    let requested = settings.server.limits.connections;
    let available = super::serving::available_connections(requested);
    if available < requested {
        let text =
            format!("enough for {available} of {requested} connections; raise the limit (ulimit -n, or LimitNOFILE=)");
        report.warning("open files", text);
    } else {
        report.ok("open files", format!("enough for {requested} connections"));
    }
}
