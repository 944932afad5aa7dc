//! `catalogue doctor`

mod certificate;
mod clock;
mod credentials;
mod database;
mod files;
mod listeners;
mod report;
#[cfg(unix)]
mod volume;

use std::time::SystemTime;

use super::serve::{self, Prepared};
use super::{Context, block_on};
use crate::cli::{self, DoctorArguments};
use crate::config::Setting;
use crate::exit::Failure;
use crate::open_files;
use report::Report;

pub(super) fn run(arguments: &DoctorArguments, context: Context) -> Result<(), Failure> {
    let mut context = context.with_options(cli::given_settings());
    let mut report = Report::default();
    files::look(&context.layers, &mut report)?;
    let prepared = prepare(&mut context, &mut report)?;
    certificate::look(&prepared, &mut report);
    clock::look(SystemTime::now(), &mut report);
    open_file_limit(&prepared, &mut report);
    listeners::look(&prepared, &mut report);
    block_on(async {
        rate_limit_store(&prepared, &mut report).await;
        database::look(&prepared.database, prepared.migration, &mut report).await;
        Ok(())
    })?;
    report.finish(arguments.json)
}

/// Settings that cannot be are no finding. A certificate that cannot be used is one, and the rest is looked at without it.
fn prepare(context: &mut Context, report: &mut Report) -> Result<Prepared, Failure> {
    match serve::check(context) {
        Err(Failure::Work(message)) => {
            report.fault("certificate", message);
            context.layers.leave_out(Setting::TlsCert);
            context.layers.leave_out(Setting::TlsKey);
            serve::check(context)
        }
        other => other,
    }
}

async fn rate_limit_store(prepared: &Prepared, report: &mut Report) {
    const CHECK: &str = "rate limit";
    let limiting = prepared.rate_limiting();
    match limiting.check_store().await {
        None => {}
        Some(Ok(())) => report.fine(CHECK, format!("{limiting} is counted")),
        Some(Err(why)) => {
            report.warning(CHECK, format!("{limiting} is not counted, so nothing is limited: {why}"));
        }
    }
}

fn open_file_limit(prepared: &Prepared, report: &mut Report) {
    let wanted = prepared.front.limits.connections;
    let room = open_files::room_within_limit(wanted);
    if room < wanted {
        let text = format!("room for {room} connections of {wanted}; raise the limit (ulimit -n, or LimitNOFILE=)");
        report.warning("open files", text);
    } else {
        report.fine("open files", format!("room for {wanted} connections"));
    }
}
