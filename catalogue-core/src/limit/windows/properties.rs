//! Properties that hold for any order of requests and any passage of time.

use std::collections::HashMap;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

const SECOND: u64 = 1_000_000_000;
/// Length of every window here, in nanoseconds.
const LENGTH: u64 = 3 * SECOND;

fn windows(requests: u32) -> Windows {
    Windows::new(RateLimit::new(requests, Duration::from_nanos(LENGTH)).unwrap(), 1)
}

/// Event that changes the windows.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// Time passes, in nanoseconds.
    Pass(u64),
    /// A key acquires one request.
    Acquire(Fingerprint),
    /// A key refunds its last grant.
    Refund(Fingerprint),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        2 => (0..2 * SECOND).prop_map(Event::Pass),
        4 => (0..3_u8).prop_map(|key| Event::Acquire(key.into())),
        1 => (0..3_u8).prop_map(|key| Event::Refund(key.into())),
    ]
}

proptest! {
    /// A window never grants more than the limit, not counting refunds; `remaining` is the rest of the limit;
    /// a refusal means that nothing remains; and no window begins before the previous one has ended.
    #[test]
    fn window_never_grants_more_than_limit(requests in 1..5_u32, events in vec(event(), 0..80)) {
        let (windows, mut now) = (windows(requests), 0);
        // Number of grants that were not refunded, by the end of their window.
        let mut granted: HashMap<u64, u32> = HashMap::new();
        let mut last = 0;
        for event in events {
            match event {
                Event::Pass(nanoseconds) => now += nanoseconds,
                Event::Acquire(_) => match windows.acquire(0, now) {
                    Acquired::Granted { remaining, resets_in, window } => {
                        prop_assert!(Duration::ZERO < resets_in && resets_in <= Duration::from_nanos(LENGTH));
                        prop_assert_eq!(Duration::from_nanos(window - now), resets_in);
                        last = window;
                        let of_window = granted.entry(window).or_default();
                        *of_window += 1;
                        prop_assert_eq!(*of_window + remaining, requests);
                    }
                    Acquired::Limited { resets_in } => {
                        prop_assert_eq!(granted[&last], requests);
                        prop_assert_eq!(Duration::from_nanos(last - now), resets_in);
                    }
                    Acquired::Uncounted => prop_assert!(false),
                },
                Event::Refund(_) => if let Some(of_window @ 1..) = granted.get_mut(&last) {
                    *of_window -= 1;
                    windows.refund(0, last);
                },
            }
        }
        let mut ends: Vec<_> = granted.into_iter().filter(|(_, count)| *count > 0).map(|(end, _)| end).collect();
        ends.sort_unstable();
        prop_assert!(ends.windows(2).all(|pair| pair[1] - pair[0] >= LENGTH), "{:?}", ends);
    }

    /// An immediate refund leaves no trace: all other results are as if the grant had not been acquired.
    #[test]
    fn immediate_refund_has_no_effect(requests in 1..5_u32, events in vec((event(), any::<bool>()), 0..80)) {
        let (plain, disturbed, mut now) = (windows(requests), windows(requests), 0);
        for (event, disturb) in events {
            if disturb && let Acquired::Granted { window, .. } = disturbed.acquire(0, now) {
                disturbed.refund(0, window);
            }
            match event {
                Event::Pass(nanoseconds) => now += nanoseconds,
                _ => prop_assert_eq!(plain.acquire(0, now), disturbed.acquire(0, now)),
            }
        }
    }

    /// The results of one key do not depend on other keys.
    #[test]
    fn keys_are_independent(requests in 1..5_u32, events in vec(event(), 0..80)) {
        let (together, separate, mut now) = (windows(requests), [(); 3].map(|()| windows(requests)), 0);
        let mut grants = [(); 3].map(|()| Vec::new());
        for event in events {
            match event {
                Event::Pass(nanoseconds) => now += nanoseconds,
                Event::Acquire(key) => {
                    let acquired = together.acquire(key, now);
                    prop_assert_eq!(acquired, separate[key as usize].acquire(key, now));
                    if let Acquired::Granted { window, .. } = acquired {
                        grants[key as usize].push(window);
                    }
                }
                Event::Refund(key) => if let Some(window) = grants[key as usize].pop() {
                    together.refund(key, window);
                    separate[key as usize].refund(key, window);
                },
            }
        }
    }

    /// A client that sends at most `r` requests until `t` whole seconds have passed, and then at most the policy's `q`, is
    /// never refused.
    #[test]
    fn compliant_client_is_never_refused(
        requests in 1..6_u32,
        waits in vec((0..5 * SECOND / 2, any::<prop::sample::Index>()), 1..80),
    ) {
        let (windows, mut now) = (windows(requests), 0);
        // From the last result: the number of requests that remain, and the end of the window.
        let (mut remaining, mut until) = (requests, 0);
        for (wait, burst) in waits {
            now += wait;
            if remaining == 0 {
                now = now.max(until);
            }
            let allowed = if now >= until { requests } else { remaining };
            for _ in 0..=burst.index(allowed as usize) {
                match windows.acquire(0, now) {
                    Acquired::Granted { remaining: r, resets_in, .. } => {
                        let t = u64::try_from(resets_in.as_nanos().div_ceil(SECOND.into())).unwrap();
                        (remaining, until) = (r, now + t * SECOND);
                    }
                    refused => prop_assert!(false, "{:?}", refused),
                }
            }
        }
    }
}
