//! `catalogue serve --rate-limit-store`

use std::process::Stdio;

use crate::closed_port::ClosedPort;
use crate::observed::Observed;
use crate::program::{Server, TestDir};
use crate::rate_limit::{COURSES, get_head, key, serve};
use crate::redis::Redis;

#[test]
fn invalid_store_url_exits_2_without_printing_password() {
    let dir = TestDir::new();
    let secret = "serve --rate-limit 1/1s --rate-limit-store rediss://:hunter2@127.0.0.1";
    dir.run(secret).fails(2, &["--rate-limit-store: ", "redis://"]);
    assert!(!dir.run(secret).err.contains("hunter2"));
}

#[test]
fn servers_share_limits_in_redis() {
    let Some(redis) = Redis::start() else { return };
    let dir = TestDir::with_courses();
    let token = key(&dir);
    let options = format!("--rate-limit 4/1h --rate-limit-store {}", redis.url());
    let (one, other) = (serve(&dir, &options), serve(&dir, &options));
    let first = get_head(&one, COURSES, &token, "");
    assert_eq!((first.status, first.field("ratelimit-policy")), (200, Some(r#""default";q=4;w=3600"#)));
    let named = format!("If-None-Match: {}\r\n", first.field("etag").unwrap());
    for server in [&one, &other, &one, &other] {
        assert_eq!(get_head(server, COURSES, &token, &named).status, 304);
    }
    for (server, remaining) in [(&other, 2), (&one, 1), (&other, 0)] {
        assert_eq!(get_head(server, COURSES, &token, "").remaining(), Some(remaining));
    }
    for server in [&one, &other] {
        let refused = get_head(server, COURSES, &token, "");
        assert_eq!((refused.status, refused.remaining()), (429, Some(0)));
        assert!(refused.field("retry-after").unwrap().parse::<u32>().unwrap() <= 3_600);
    }
    // Attempts with unknown tokens share a limit too. Both servers know the key, so its requests keep a separate limit.
    let attempts =
        [&one, &other, &one, &other, &one, &other].map(|server| get_head(server, COURSES, "guess", "").status);
    assert_eq!(attempts, [401, 401, 401, 401, 429, 429]);
}

/// A 304 response does not count. A client without remaining requests gets a 429 instead of a 304.
#[test]
fn refunded_requests_do_not_count_in_redis() {
    let Some(redis) = Redis::start() else { return };
    let dir = TestDir::with_courses();
    let token = key(&dir);
    let server = serve(&dir, &format!("--rate-limit 2/1h --rate-limit-store {}", redis.url()));
    let first = get_head(&server, COURSES, &token, "");
    let tag = format!("If-None-Match: {}\r\n", first.field("etag").unwrap());
    for _ in 0..20 {
        assert_eq!(get_head(&server, COURSES, &token, &tag).status, 304);
    }
    assert_eq!(get_head(&server, COURSES, &token, "").remaining(), Some(0));
    assert_eq!(get_head(&server, COURSES, &token, &tag).status, 429);
}

#[test]
fn requests_are_not_limited_while_redis_is_unreachable() {
    let Some(redis) = Redis::start() else { return };
    let (port, dir) = (redis.port(), TestDir::with_courses());
    let token = key(&dir);
    let options = format!("--rate-limit 2/1h --rate-limit-store {}", redis.url());
    let mut command = dir.command(&format!("serve --listen 127.0.0.1:0 {options}"));
    let mut server = Server::start(command.stderr(Stdio::piped()));
    let mut notes = server.take_notes().map(Result::unwrap);
    let start = notes.next().unwrap();
    assert!(start.contains("2/1h in redis://127.0.0.1:"), "{start}");
    assert_eq!(get_head(&server, COURSES, &token, "").remaining(), Some(1));

    drop(redis);
    for _ in 0..5 {
        let response = get_head(&server, COURSES, &token, "");
        assert_eq!(
            (response.status, response.field("ratelimit"), response.field("ratelimit-policy")),
            (200, None, None)
        );
    }
    let outage = notes.next().unwrap();
    assert!(outage.contains("WARN") && outage.contains("unreachable"), "{outage}");

    // The server notices the recovery without a request, and counts the next one.
    let _redis = Redis::start_at(port).unwrap();
    let recovery = notes.next().unwrap();
    assert!(recovery.contains("INFO") && recovery.contains("reachable again uncounted=5"), "{recovery}");
    assert_eq!(get_head(&server, COURSES, &token, "").remaining(), Some(1));
}

#[test]
fn restarted_redis_counts_next_request() {
    let Some(redis) = Redis::start() else { return };
    let (port, dir) = (redis.port(), TestDir::with_courses());
    let token = key(&dir);
    let observed = Observed::start(&dir, &format!("--rate-limit 2/1h --rate-limit-store {}", redis.url()));
    assert_eq!(get_head(&observed.server, COURSES, &token, "").remaining(), Some(1));
    drop(redis);
    let _redis = Redis::start_at(port).unwrap();
    assert_eq!(get_head(&observed.server, COURSES, &token, "").remaining(), Some(1));
    assert_eq!(observed.metrics()["catalogue_limits_uncounted_total"], 0.0);
    assert!(!observed.stop_and_read_log().contains("unreachable"));
}

#[test]
fn uncounted_requests_are_exported_as_metric() {
    let Some(redis) = Redis::start() else { return };
    let dir = TestDir::with_courses();
    let token = key(&dir);
    let observed = Observed::start(&dir, &format!("--rate-limit 2/1h --rate-limit-store {}", redis.url()));
    let uncounted = || observed.metrics()["catalogue_limits_uncounted_total"];
    assert_eq!(get_head(&observed.server, COURSES, &token, "").remaining(), Some(1));
    assert_eq!(uncounted(), 0.0);
    drop(redis);
    for requests in 1..=3 {
        assert_eq!(get_head(&observed.server, COURSES, &token, "").status, 200);
        assert_eq!(uncounted(), f64::from(requests));
    }
    // An attempt with an unknown token would have been counted for the client address, not for a credential.
    assert_eq!(get_head(&observed.server, COURSES, "guess", "").status, 401);
    assert_eq!(uncounted(), 4.0);
}

#[test]
fn server_starts_while_store_is_unreachable() {
    let dir = TestDir::with_courses();
    let token = key(&dir);
    let port = ClosedPort::new();
    let options = format!("--rate-limit 1/1h --rate-limit-store redis://127.0.0.1:{}", port.number());
    let observed = Observed::start(&dir, &options);
    // Logged before the first request.
    observed.wait_for_log("rate-limit store unreachable");
    assert_eq!(observed.metrics()["catalogue_limits_uncounted_total"], 0.0);
    for _ in 0..3 {
        let response = get_head(&observed.server, COURSES, &token, "");
        assert_eq!((response.status, response.field("ratelimit")), (200, None));
    }
    assert_eq!(observed.stop_and_read_log().matches("WARN").count(), 1);
}
