//! Certificates that are renewed while the server runs.

use std::{sync::Arc, time::Duration};

use time::OffsetDateTime;
use tokio::{task, time::sleep};

use super::{Tls, expiry::ExpiryWatch, flaw::Flaw};

/// Looks at the files whenever `asked` resolves, and `every` so often by itself, for ever. Connections that are open
/// keep what they have; the next handshake gets what was found. What `asked` gives is dropped when that is done.
///
/// Files that cannot be used, such as a pair of which only one half was written yet, leave the certificate that is in
/// use alone. The log hears of them once, of what clients refuse about the one in use, and of its end.
pub(crate) async fn keep_renewed<T>(tls: Arc<Tls>, every: Duration, mut asked: impl AsyncFnMut() -> T) {
    let (mut missing, mut expiry) = (false, ExpiryWatch::default());
    log_flaws(&tls);
    loop {
        expiry.look(tls.validity(), OffsetDateTime::now_utc());
        let demand = tokio::select! {
            demand = asked() => Some(demand),
            () = sleep(every) => None,
        };
        let on_demand = demand.is_some();
        let work = tls.clone();
        // A disk may be slow.
        let Ok(outcome) = task::spawn_blocking(move || work.renew()).await else { continue };
        let unreadable = matches!(outcome, Err(super::PairError::Unreadable { .. }));
        match outcome {
            Ok(true) => {
                tracing::info!(expires = tls.expires(), "took up another certificate");
                log_flaws(&tls);
            }
            Ok(false) if on_demand => tracing::info!("the certificate's files are the same as before"),
            Err(error) if !(unreadable && missing) || on_demand => {
                let error = crate::exit::chain(&error);
                tracing::warn!(error, "the certificate in use stays, for the files' one cannot be used");
            }
            Ok(false) | Err(_) => {}
        }
        missing = unreadable;
        drop(demand);
    }
}

fn log_flaws(tls: &Tls) {
    // One from a root of the operator's own is rightly alone, at each start; `doctor` mentions it.
    for flaw in tls.flaws().iter().filter(|&&flaw| flaw != Flaw::Alone) {
        tracing::warn!("{flaw}");
    }
}
