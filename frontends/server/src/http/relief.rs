//! Ends connections of HTTP/2 that hold too much and whose clients take too little, where the backlog is large.

use std::{cmp::Reverse, convert::Infallible, sync::Arc, time::Duration};

use tokio::time::{Instant, sleep};

use super::{activity::Activity, crowd::Members};

/// From one look at all connections to the next; also what an answer may always wait, since every answer does so for the
/// time that a window takes to be opened.
const PAUSE: Duration = Duration::from_millis(50);

/// Keeps the backlog of these connections within its bound.
pub(super) async fn relieve(members: Arc<Members>) -> Infallible {
    loop {
        members.backlog().grown().await;
        make_room(&members);
        sleep(PAUSE).await;
    }
}

/// Has those connections end that wait for their clients for longer than is bearable now: first whoever is furthest
/// beyond its share, of those that are as far, who has waited longest.
fn make_room(members: &Members) {
    let backlog = members.backlog();
    let now = Instant::now();
    let share = backlog.share();
    let (patience, beyond) = (backlog.patience().max(PAUSE), backlog.patience_beyond().max(PAUSE));
    let waiting = |activity: &Arc<Activity>| {
        let (since, requests) = activity.waits(share)?;
        let patience = if requests > share { beyond } else { patience };
        let is_over = now.saturating_duration_since(since) >= patience;
        is_over.then(|| (since, requests, activity.clone()))
    };
    let mut found: Vec<_> = members.all().values().filter_map(waiting).collect();
    found.sort_by_key(|(since, requests, _)| (Reverse(requests.saturating_sub(share)), *since));
    for (since, _, activity) in found {
        if backlog.excess() == 0 {
            return;
        }
        activity.give_up(since, share);
    }
}
