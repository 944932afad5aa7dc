//! Certificates that are renewed while the server runs.

use std::{sync::Arc, time::Duration};

use time::OffsetDateTime;
use tokio::{task, time::sleep};

use super::{Tls, expiry::ExpiryWatch};

/// Looks at the files whenever `asked` resolves, and `every` so often by itself, for ever. Connections that are open
/// keep what they have; the next handshake gets what was found. What `asked` gives is dropped when that is done.
///
/// Files that cannot be used, such as a pair of which only one half was written yet, leave the certificate that is in
/// use alone. The log hears of them once, and at each look of a certificate in use that ends.
pub(crate) async fn keep_renewed<T>(tls: Arc<Tls>, every: Duration, mut asked: impl AsyncFnMut() -> T) {
    let (mut missing, mut expiry) = (false, ExpiryWatch::default());
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
            Ok(true) => tracing::info!(expires = tls.expires(), "took up another certificate"),
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
