//! Checks whether clients accept the certificate, and for how long.

use catalogue_hyper::Tls;
use http::Uri;
use time::{Duration, OffsetDateTime};

use crate::report::Report;

/// Remaining time that gets a warning, but at most a quarter of the lifetime: automatic renewal must have failed by then.
const RENEWAL_PERIOD: Duration = Duration::days(14);

const CHECK: &str = "certificate";

pub(super) fn check(tls: &Tls, base_url: &str, report: &mut Report) {
    let (validity, now) = (tls.validity(), OffsetDateTime::now_utc());
    let days = (validity.not_after - now).whole_days();
    let text = format!("expires on {}, in {days} days", tls.expires());
    if validity.is_renewal_due(RENEWAL_PERIOD, now) {
        report.warning(CHECK, format!("{text}; renew it"));
    } else {
        report.ok(CHECK, text);
    }
    for problem in tls.problems() {
        report.warning(CHECK, problem.to_string());
    }
    check_host(tls, base_url, report);
}

/// Reports whether the certificate is valid for the host of the base URL, if that is known.
fn check_host(tls: &Tls, base_url: &str, report: &mut Report) {
    let Ok(base_url) = base_url.parse::<Uri>() else { return };
    let Some(host) = base_url.host() else { return };
    // Square brackets around an IPv6 address belong to the URL, not to the host.
    let host = host.trim_start_matches('[').trim_end_matches(']');
    match tls.is_valid_for(host) {
        Some(true) => report.ok(CHECK, format!("is valid for {host}, the host of --base-url")),
        Some(false) => {
            let text = "so clients reject it; get one that is, or change --base-url";
            report.warning(CHECK, format!("is not valid for {host}, the host of --base-url, {text}"));
        }
        None => {}
    }
}
