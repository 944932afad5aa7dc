//! Ends connections of HTTP/2 whose answers wait for their clients, where too many do.

use std::{convert::Infallible, sync::Arc, time::Duration};

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

/// Has those connections end whose answers have waited longest, and longer than is bearable now.
fn make_room(members: &Members) {
    let backlog = members.backlog();
    let Some(latest) = Instant::now().checked_sub(backlog.patience().max(PAUSE)) else { return };
    let waiting = |activity: &Arc<Activity>| {
        let (since, requests) = activity.answers_wait().filter(|(since, _)| *since <= latest)?;
        Some((since, requests, activity.clone()))
    };
    let mut found: Vec<_> = members.all().values().filter_map(waiting).collect();
    found.sort_by_key(|(since, ..)| *since);
    let mut excess = backlog.excess() as usize;
    for (since, requests, activity) in found {
        if excess == 0 {
            return;
        }
        if activity.give_up_answers(since) {
            excess = excess.saturating_sub(requests);
        }
    }
}
