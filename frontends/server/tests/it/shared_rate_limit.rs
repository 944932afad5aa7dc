//! `catalogue serve --rate-limit-store`

use crate::closed_port::ClosedPort;
use crate::observed::Observed;
use crate::program::{TestDir, TestResponse};
use crate::redis::Redis;

const COURSES: &str = "/api/v1/courses";

/// Returns the number of remaining requests that the response reports.
fn remaining(response: &TestResponse) -> Option<u32> {
    let state = response.field("ratelimit")?.strip_prefix(r#""default";r="#).unwrap();
    state.split(';').next().unwrap().parse().ok()
}

#[test]
fn servers_share_limits_in_redis() {
    let Some(redis) = Redis::start() else { return };
    let dir = TestDir::with_courses();
    let token = dir.key("a").1;
    let options = format!("--log warn --rate-limit 4/1h --rate-limit-store {}", redis.url());
    let (one, other) = (dir.serve(&options), dir.serve(&options));
    let first = one.get_head(COURSES, &token, "");
    assert_eq!((first.status, first.field("ratelimit-policy")), (200, Some(r#""default";q=4;w=3600"#)));
    let named = format!("If-None-Match: {}\r\n", first.field("etag").unwrap());
    for server in [&one, &other, &one, &other] {
        assert_eq!(server.get_head(COURSES, &token, &named).status, 304);
    }
    for (server, expected) in [(&other, 2), (&one, 1), (&other, 0)] {
        assert_eq!(remaining(&server.get_head(COURSES, &token, "")), Some(expected));
    }
    for server in [&one, &other] {
        let refused = server.get_head(COURSES, &token, "");
        assert_eq!((refused.status, remaining(&refused)), (429, Some(0)));
        assert!(refused.field("retry-after").unwrap().parse::<u32>().unwrap() <= 3_600);
        assert_eq!(server.get_head(COURSES, &token, &named).status, 429, "without remaining requests, no 304");
    }
    // Attempts with unknown tokens share a limit too. Both servers know the key, so its requests keep a separate limit.
    let attempts =
        [&one, &other, &one, &other, &one, &other].map(|server| server.get_head(COURSES, "guess", "").status);
    assert_eq!(attempts, [401, 401, 401, 401, 429, 429]);
}

#[test]
fn requests_are_uncounted_while_redis_is_unreachable() {
    let Some(redis) = Redis::start() else { return };
    let (port, dir) = (redis.port(), TestDir::with_courses());
    let token = dir.key("a").1;
    let observed = Observed::start(&dir, &format!("--rate-limit 2/1h --rate-limit-store {}", redis.url()));
    let get = |token: &str| observed.server.get_head(COURSES, token, "");
    let uncounted = || observed.metrics()["catalogue_limits_uncounted_total"];
    observed.wait_for_log("2/1h in redis://127.0.0.1:");
    assert_eq!((remaining(&get(&token)), uncounted()), (Some(1), 0.0));

    drop(redis);
    for requests in 1..=5 {
        let response = get(&token);
        assert_eq!(
            (response.status, response.field("ratelimit"), response.field("ratelimit-policy")),
            (200, None, None)
        );
        assert_eq!(uncounted(), f64::from(requests));
    }
    // An attempt with an unknown token would have been counted for the client address, not for a credential.
    assert_eq!((get("guess").status, uncounted()), (401, 6.0));

    // The server notices the recovery without a request, and counts the next one.
    let _redis = Redis::start_at(port).unwrap();
    observed.wait_for_log("reachable again uncounted=6");
    assert_eq!(remaining(&get(&token)), Some(1));
    let log = observed.stop_and_read_log();
    let lines: Vec<_> = log.lines().filter(|line| line.contains("reachable")).collect();
    assert!(lines.len() == 2 && lines[0].contains(" WARN ") && lines[0].contains("unreachable"), "{log}");
    assert!(lines[1].contains(" INFO "), "{log}");
}

#[test]
fn restarted_redis_counts_next_request() {
    let Some(redis) = Redis::start() else { return };
    let (port, dir) = (redis.port(), TestDir::with_courses());
    let token = dir.key("a").1;
    let observed = Observed::start(&dir, &format!("--rate-limit 2/1h --rate-limit-store {}", redis.url()));
    assert_eq!(remaining(&observed.server.get_head(COURSES, &token, "")), Some(1));
    drop(redis);
    let _redis = Redis::start_at(port).unwrap();
    assert_eq!(remaining(&observed.server.get_head(COURSES, &token, "")), Some(1));
    assert_eq!(observed.metrics()["catalogue_limits_uncounted_total"], 0.0);
    assert!(!observed.stop_and_read_log().contains("unreachable"));
}

#[test]
fn server_starts_while_store_is_unreachable() {
    let dir = TestDir::with_courses();
    let token = dir.key("a").1;
    let port = ClosedPort::new();
    let options = format!("--rate-limit 1/1h --rate-limit-store redis://127.0.0.1:{}", port.number());
    let observed = Observed::start(&dir, &options);
    // Logged before the first request.
    observed.wait_for_log("rate-limit store unreachable");
    assert_eq!(observed.metrics()["catalogue_limits_uncounted_total"], 0.0);
    for _ in 0..3 {
        let response = observed.server.get_head(COURSES, &token, "");
        assert_eq!((response.status, response.field("ratelimit")), (200, None));
    }
    assert_eq!(observed.stop_and_read_log().matches("WARN").count(), 1);
}
