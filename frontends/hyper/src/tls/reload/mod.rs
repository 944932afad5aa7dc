//! Renewal of certificates while the server runs, and warnings of one that expires.

use std::sync::Arc;

use time::{Duration, OffsetDateTime};
use tokio::task;
use tokio::time::timeout;

use super::certificate::date_text;
use super::{CertificateProblem, Tls, Validity};

/// Maximum time before the expiry at which warnings begin: it contains a working week for a renewal by hand.
const EXPIRY_WARNING: Duration = Duration::days(7);

/// Interval between warnings.
const WARNING_INTERVAL: Duration = Duration::days(1);

/// Reads the files again when `reload_requested` resolves, at the latest after `every`. Never returns. The next handshake
/// uses the new certificate. Drops the output of `reload_requested` after the reload, so that its `Drop` can report the end.
///
/// If the files cannot be used, for example because only one of them was replaced so far, the certificate in use stays.
/// Logs unusable files, what clients refuse about the certificate in use, and once a day that it expires soon.
pub async fn reload_certificate<T>(
    tls: Arc<Tls>,
    every: std::time::Duration,
    mut reload_requested: impl AsyncFnMut() -> T,
) {
    let (mut last_error, mut expiry) = (String::new(), ExpiryWatch::default());
    log_problems(&tls);
    loop {
        expiry.check(tls.validity(), OffsetDateTime::now_utc());
        let request = timeout(every, reload_requested()).await.ok();
        let reloading = tls.clone();
        // On a blocking thread, because a disk may be slow.
        let Ok(outcome) = task::spawn_blocking(move || reloading.reload()).await else { continue };
        let error = outcome.as_ref().err().map_or_else(String::new, ToString::to_string);
        match outcome {
            Ok(true) => {
                tracing::info!(expires = tls.expires(), "loaded a new certificate");
                log_problems(&tls);
            }
            Ok(false) if request.is_some() => tracing::info!("the certificate files are unchanged"),
            Err(_) if request.is_some() || error != last_error => {
                tracing::warn!(error, "cannot load the new certificate; keeping the current one");
            }
            Ok(false) | Err(_) => {}
        }
        last_error = error;
        drop(request);
    }
}

fn log_problems(tls: &Tls) {
    // A certificate issued by the operator's root needs no intermediates, so the log does not warn that they are missing.
    for problem in tls.problems().iter().filter(|&&problem| problem != CertificateProblem::MissingIntermediates) {
        tracing::warn!("{problem}");
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Notice {
    Soon,
    Expired,
}

/// The last notice: its certificate, its kind and its time.
#[derive(Debug, Default)]
struct ExpiryWatch(Option<(Validity, Notice, OffsetDateTime)>);

impl ExpiryWatch {
    /// Checks the certificate in use, and logs a notice if one is due.
    fn check(&mut self, certificate: Validity, now: OffsetDateTime) {
        let expires = date_text(certificate.not_after);
        match self.notice(certificate, now) {
            Some(Notice::Soon) => {
                let days_left = (certificate.not_after - now).whole_days();
                tracing::warn!(expires, days_left, "the certificate in use expires soon; renew it");
            }
            Some(Notice::Expired) => {
                tracing::error!(expires, "the certificate in use has expired, so clients refuse it; renew it");
            }
            None => {}
        }
    }

    /// Returns the warning once a day, and the expiry once. Starts again for another certificate.
    fn notice(&mut self, certificate: Validity, now: OffsetDateTime) -> Option<Notice> {
        if !certificate.is_renewal_due(EXPIRY_WARNING, now) {
            return None;
        }
        let notice = if now > certificate.not_after { Notice::Expired } else { Notice::Soon };
        let is_repeated = |(of, logged, at)| {
            (of, logged) == (certificate, notice) && (logged == Notice::Expired || now - at < WARNING_INTERVAL)
        };
        if self.0.is_some_and(is_repeated) {
            return None;
        }
        self.0 = Some((certificate, notice, now));
        Some(notice)
    }
}

#[cfg(test)]
mod tests;
