//! [`Tally`]: results of the requests by phase.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// All phases so far. A request is counted in the phase in which it ends.
pub(crate) struct Tally(Mutex<Vec<Phase>>);

struct Phase {
    name: String,
    began: Instant,
    /// Number of responses by status; `None` counts requests without a response.
    statuses: BTreeMap<Option<u16>, u64>,
    /// Times, since the phase began, of the first and the last request that got no 200.
    failures: Option<[Duration; 2]>,
    longest: Duration,
}

impl Tally {
    /// Creates a tally with the phase `name`.
    pub(crate) fn new(name: &str) -> Self {
        Self(Mutex::new(vec![Phase::new(name.to_owned())]))
    }

    /// Begins the next phase. Removes a phase without requests.
    pub(crate) fn begin(&self, name: String) {
        let mut phases = self.phases();
        phases.retain(|phase| !phase.statuses.is_empty());
        phases.push(Phase::new(name));
    }

    /// Records a request that ended with `status`, or without a response.
    pub(crate) fn record(&self, began: Instant, status: Option<u16>) {
        let now = Instant::now();
        let mut phases = self.phases();
        let Some(phase) = phases.last_mut() else { return };
        *phase.statuses.entry(status).or_default() += 1;
        phase.longest = phase.longest.max(now.saturating_duration_since(began));
        if status != Some(200) {
            let at = now.saturating_duration_since(phase.began);
            phase.failures.get_or_insert([at; 2])[1] = at;
        }
    }

    /// Returns `true` if there were requests, and all got a 200 or an allowed status.
    pub(crate) fn is_success(&self, allowed: &[u16]) -> bool {
        let phases = self.phases();
        let mut statuses = phases.iter().flat_map(|phase| phase.statuses.keys()).peekable();
        statuses.peek().is_some()
            && statuses.all(|status| status.is_some_and(|status| status == 200 || allowed.contains(&status)))
    }

    fn phases(&self) -> MutexGuard<'_, Vec<Phase>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Phase {
    fn new(name: String) -> Self {
        Self { name, began: Instant::now(), statuses: BTreeMap::new(), failures: None, longest: Duration::ZERO }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for phase in self.phases().iter() {
            write!(f, "{:<32}", phase.name)?;
            for (status, count) in phase.statuses.iter().rev() {
                match status {
                    Some(status) => write!(f, "  {status}: {count}")?,
                    None => write!(f, "  no response: {count}")?,
                }
            }
            if let Some([first, last]) = phase.failures {
                write!(f, "  failed from {:.2} s to {:.2} s", first.as_secs_f64(), last.as_secs_f64())?;
            }
            writeln!(f, "  longest {:.0} ms", phase.longest.as_secs_f64() * 1e3)?;
        }
        Ok(())
    }
}
