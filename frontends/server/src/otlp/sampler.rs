//! [`Sampler`]: which requests get a span, and where it stands in which trace.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use catalogue_core::TraceParent;

/// How many bits of a trace's id are random for sure (W3C Trace Context, level 2).
const RANDOM_BITS: u32 = 56;

/// Where a span stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) trace: u128,
    pub(super) span: u64,
    /// The caller's span, where the trace is the caller's.
    pub(super) parent: Option<u64>,
}

/// A request of somebody's trace gets a span if that trace is recorded; of the others a share does, each as the beginning
/// of a trace of its own.
#[derive(Debug)]
pub(super) struct Sampler {
    /// Below which the random bits of a trace's id must be.
    threshold: u64,
    ids: Ids,
}

impl Sampler {
    /// The share is from 0 to 1.
    pub(super) fn new(ratio: f64) -> Self {
        Self { threshold: (ratio * (1_u64 << RANDOM_BITS) as f64) as u64, ids: Ids::default() }
    }

    /// Where the span of a request stands that belongs to that trace; `None` where it gets none.
    pub(super) fn place(&self, caller: Option<TraceParent<'_>>) -> Option<Place> {
        let (trace, parent) = match caller {
            Some(caller) if !caller.is_sampled() => return None,
            Some(caller) => {
                let trace = u128::from_str_radix(caller.trace_id(), 16).expect("32 hexadecimal digits");
                let parent = u64::from_str_radix(caller.parent_id(), 16).expect("16 hexadecimal digits");
                (trace, Some(parent))
            }
            None => {
                let trace = self.ids.of_trace();
                let random = trace as u64 & ((1 << RANDOM_BITS) - 1);
                if random >= self.threshold {
                    return None;
                }
                (trace, None)
            }
        };
        Some(Place { trace, span: self.ids.of_span(), parent })
    }
}

/// Ids that nobody can guess and that no other process gives: a count, hashed under keys of the system's randomness.
#[derive(Debug, Default)]
pub(super) struct Ids {
    keys: RandomState,
    given: AtomicU64,
}

impl Ids {
    /// An id is never 0.
    fn of_span(&self) -> u64 {
        self.keys.hash_one(self.given.fetch_add(1, Ordering::Relaxed)).max(1)
    }

    pub(super) fn of_trace(&self) -> u128 {
        u128::from(self.of_span()) << 64 | u128::from(self.of_span())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use http::{HeaderMap, HeaderValue};

    use super::*;

    fn from_caller(sampler: &Sampler, flags: &str) -> Option<Place> {
        let text = format!("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-{flags}");
        let headers = HeaderMap::from_iter([("traceparent".parse().unwrap(), HeaderValue::try_from(text).unwrap())]);
        sampler.place(Some(TraceParent::of(&headers).unwrap()))
    }

    #[test]
    fn the_trace_of_a_caller_is_recorded_as_the_caller_says() {
        for ratio in [0.0, 1.0] {
            let sampler = Sampler::new(ratio);
            let place = from_caller(&sampler, "01").unwrap();
            assert_eq!(place.trace, 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736);
            assert_eq!(place.parent, Some(0x00f0_67aa_0ba9_02b7));
            assert_eq!(from_caller(&sampler, "00"), None);
        }
    }

    #[test]
    fn of_the_others_a_share_begins_a_trace() {
        let places = |ratio| {
            let sampler = Sampler::new(ratio);
            (0..10_000).filter_map(|_| sampler.place(None)).collect::<Vec<_>>()
        };
        assert_eq!(places(0.0), []);
        assert_eq!(places(1.0).len(), 10_000);
        // Twenty standard deviations on each side.
        let some = places(0.25);
        assert!((1_600..3_400).contains(&some.len()), "{}", some.len());
        assert!(some.iter().all(|place| place.parent.is_none()));
    }

    #[test]
    fn no_id_comes_twice() {
        let samplers = [Sampler::new(1.0), Sampler::new(1.0)];
        let places = samplers.iter().flat_map(|sampler| (0..1_000).map(|_| sampler.place(None).unwrap()));
        let ids: HashSet<u64> =
            places.flat_map(|place| [place.span, (place.trace >> 64) as u64, place.trace as u64]).collect();
        assert_eq!(ids.len(), 6_000);
    }
}
