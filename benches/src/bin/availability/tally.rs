//! [`Tally`]: what became of the requests, phase by phase.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// It was answered with that status.
    Answered(u16),
    /// The connection was refused, or ended without an answer, or none came in time.
    Unanswered,
}

/// The phases up to now; what ends is of the last one.
pub(crate) struct Tally(Mutex<Vec<Phase>>);

struct Phase {
    name: String,
    began: Instant,
    outcomes: BTreeMap<Outcome, u64>,
    /// When the first request failed and when the last, since the phase began.
    failures: Option<(Duration, Duration)>,
    longest: Duration,
}

impl Tally {
    /// Begins with a phase that has no name.
    pub(crate) fn new() -> Self {
        Self(Mutex::new(vec![Phase::new(String::new())]))
    }

    /// Begins the next phase. One in which nothing was asked is left out.
    pub(crate) fn begin(&self, name: String) {
        let mut phases = self.phases();
        phases.retain(|phase| !phase.outcomes.is_empty());
        phases.push(Phase::new(name));
    }

    /// A request has ended.
    pub(crate) fn note(&self, began: Instant, outcome: Outcome) {
        let now = Instant::now();
        let mut phases = self.phases();
        let Some(phase) = phases.last_mut() else { return };
        *phase.outcomes.entry(outcome).or_default() += 1;
        phase.longest = phase.longest.max(now.saturating_duration_since(began));
        if outcome != Outcome::Answered(200) {
            let at = now.saturating_duration_since(phase.began);
            phase.failures = Some((phase.failures.map_or(at, |(first, _)| first), at));
        }
    }

    /// Whether every request was answered with 200 or one of those.
    pub(crate) fn is_good(&self, allowed: &[u16]) -> bool {
        let good = |outcome: &Outcome| match outcome {
            Outcome::Answered(status) => *status == 200 || allowed.contains(status),
            Outcome::Unanswered => false,
        };
        let phases = self.phases();
        let mut outcomes = phases.iter().flat_map(|phase| phase.outcomes.keys()).peekable();
        outcomes.peek().is_some() && outcomes.all(good)
    }

    fn phases(&self) -> MutexGuard<'_, Vec<Phase>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Phase {
    fn new(name: String) -> Self {
        Self { name, began: Instant::now(), outcomes: BTreeMap::new(), failures: None, longest: Duration::ZERO }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for phase in self.phases().iter() {
            let name = if phase.name.is_empty() { "at first" } else { &phase.name };
            write!(f, "{name:<32}")?;
            for (outcome, count) in &phase.outcomes {
                match outcome {
                    Outcome::Answered(status) => write!(f, "  {status}: {count}")?,
                    Outcome::Unanswered => write!(f, "  unanswered: {count}")?,
                }
            }
            if let Some((first, last)) = phase.failures {
                write!(f, "  failed from {:.2} s to {:.2} s", first.as_secs_f64(), last.as_secs_f64())?;
            }
            writeln!(f, "  longest {:.0} ms", phase.longest.as_secs_f64() * 1e3)?;
        }
        Ok(())
    }
}
