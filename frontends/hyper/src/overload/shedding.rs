//! Load shedding: evicts connections whose clients leave HTTP/2 responses untaken or send no body, if more than half of
//! the allowed streams are outstanding.

use std::cmp::Reverse;
use std::convert::Infallible;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::registry::Registry;
use super::{OutstandingStreams, PAUSE};

pub(crate) async fn shed_streams(registry: &Registry, streams: &OutstandingStreams, after: Duration) -> Infallible {
    loop {
        streams.pressure().await;
        evict_holders(registry, streams, after);
        sleep(PAUSE).await;
    }
}

/// Evicts first whoever has most beyond its share, of those that have the same, who has waited longest.
fn evict_holders(registry: &Registry, streams: &OutstandingStreams, after: Duration) {
    let now = Instant::now();
    let found = registry.ranked(|state| {
        let (held, since) = state.waits_for_client()?;
        let patience = streams.patience(held, after).max(PAUSE);
        let is_over = now.saturating_duration_since(since) >= patience;
        is_over.then(|| (Reverse(streams.beyond_share(held)), since, held))
    });
    let mut excess = streams.excess() as usize;
    for ((_, since, held), state) in found {
        if excess == 0 {
            return;
        }
        if state.evict_if(|now| now.waits_for_client().is_some_and(|(_, earliest)| earliest <= since)) {
            excess = excess.saturating_sub(held);
        }
    }
}
