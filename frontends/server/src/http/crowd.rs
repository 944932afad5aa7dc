//! All connections of a server: how many there may be, and which gives way to another when there are as many.

use std::{
    collections::HashMap,
    convert::Infallible,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, sleep},
};

use super::{Limits, activity::Activity, backlog::Backlog, claim::Claim, relief::relieve};

/// How long to wait before looking again for a connection that can give way.
const PAUSE: Duration = Duration::from_millis(50);

/// What the task of a connection gets to end that gives way, before another one has to.
const LAST_TURN: Duration = Duration::from_secs(1);

/// One look at all connections finds those that give way to so many of them: the sixteenth part.
const SHARE: usize = 16;

/// The connections of a server.
///
/// Silent and slow clients cannot keep others out: where all places are taken, the one with the least [`Claim`] gives way
/// that is older than the yield time. Whoever is being answered stays, as long as it takes the answer.
pub(super) struct Crowd {
    places: Arc<Semaphore>,
    size: u32,
    yield_time: Duration,
    members: Arc<Members>,
    /// Who can give way, the next one at the end.
    candidates: Vec<(Arc<Activity>, Claim)>,
}

/// The records of all connections, and what they have in common.
pub(super) struct Members {
    all: Mutex<HashMap<u64, Arc<Activity>>>,
    next: AtomicU64,
    backlog: Arc<Backlog>,
}

impl Members {
    /// Their requests of HTTP/2.
    pub(super) fn backlog(&self) -> &Backlog {
        &self.backlog
    }

    pub(super) fn all(&self) -> MutexGuard<'_, HashMap<u64, Arc<Activity>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Room for one connection, free again when this is dropped.
pub(super) struct Place {
    number: u64,
    members: Arc<Members>,
    _permit: OwnedSemaphorePermit,
}

impl Crowd {
    /// Nobody yet.
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            places: Arc::new(Semaphore::new(limits.connections as usize)),
            size: limits.connections,
            yield_time: limits.yield_time,
            members: Arc::new(Members {
                all: Mutex::default(),
                next: AtomicU64::new(0),
                backlog: Arc::new(Backlog::new(limits)),
            }),
            candidates: Vec::new(),
        }
    }

    /// A place for a client who is at the door, as soon as there is one.
    pub(super) async fn place(&mut self) -> Place {
        loop {
            if let Some(place) = self.free_place() {
                return place;
            }
            let pause = if self.make_room() { LAST_TURN } else { PAUSE };
            tokio::select! {
                permit = self.places.clone().acquire_owned() => {
                    return self.place_with(permit.expect("nobody closes the semaphore"));
                }
                () = sleep(pause) => {}
            }
        }
    }

    /// A place, if one is free.
    pub(super) fn free_place(&self) -> Option<Place> {
        self.places.clone().try_acquire_owned().ok().map(|permit| self.place_with(permit))
    }

    /// Keeps the answers within their bound that wait for their clients, as long as this is polled.
    pub(super) fn relief(&self) -> impl Future<Output = Infallible> + use<> {
        relieve(self.members.clone())
    }

    /// Waits until everybody has left.
    pub(super) async fn gone(&self) {
        let _all = self.places.acquire_many(self.size).await;
    }

    fn place_with(&self, permit: OwnedSemaphorePermit) -> Place {
        let number = self.members.next.fetch_add(1, Ordering::Relaxed);
        Place { number, members: self.members.clone(), _permit: permit }
    }

    /// Has one connection end, if there is one that can. All are looked at once for many that give way.
    fn make_room(&mut self) -> bool {
        if self.next_gives_way() {
            return true;
        }
        self.find_candidates();
        self.next_gives_way()
    }

    fn next_gives_way(&mut self) -> bool {
        while let Some((activity, claim)) = self.candidates.pop() {
            if activity.give_way(claim) {
                return true;
            }
        }
        false
    }

    fn find_candidates(&mut self) {
        let Some(latest) = Instant::now().checked_sub(self.yield_time) else { return };
        let members = self.members.all();
        let share = members.len().div_ceil(SHARE);
        let claim = |activity: &Arc<Activity>| activity.claim().filter(|claim| claim.since <= latest);
        let mut found: Vec<_> =
            members.values().filter_map(|activity| Some((activity.clone(), claim(activity)?))).collect();
        drop(members);
        found.sort_by_key(|(_, claim)| *claim);
        found.truncate(share);
        self.candidates.extend(found.into_iter().rev());
    }
}

impl Place {
    /// What the requests of HTTP/2 on all connections are counted in.
    pub(super) fn backlog(&self) -> Arc<Backlog> {
        self.members.backlog.clone()
    }

    /// Takes the place with the record of a connection.
    pub(super) fn take(&self, activity: &Arc<Activity>) {
        self.members.all().insert(self.number, activity.clone());
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.members.all().remove(&self.number);
    }
}
