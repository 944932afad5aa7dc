//! `catalogue serve --rate-limit-store`

use std::process::Stdio;

use crate::closed_port::ClosedPort;
use crate::observed::Observed;
use crate::program::{Server, TestDir};
use crate::rate_limit::{COURSES, ask, key, serve};
use crate::redis::Redis;

#[test]
fn an_address_that_cannot_be_is_2_and_its_password_stays_unsaid() {
    let dir = TestDir::new();
    let secret = "serve --rate-limit 1/1s --rate-limit-store rediss://:hunter2@127.0.0.1";
    dir.run(secret).fails(2, &["--rate-limit-store: ", "redis://"]);
    assert!(!dir.run(secret).err.contains("hunter2"));
}

#[test]
fn several_servers_count_together_in_redis() {
    let Some(redis) = Redis::start() else { return };
    let dir = TestDir::with_courses();
    let token = key(&dir);
    let options = format!("--rate-limit 4/1h --rate-limit-store {}", redis.url());
    let (one, other) = (serve(&dir, &options), serve(&dir, &options));
    let first = ask(&one, COURSES, &token, "");
    assert_eq!((first.status, first.field("ratelimit-policy")), (200, Some(r#""default";q=4;w=3600"#)));
    let named = format!("If-None-Match: {}\r\n", first.field("etag").unwrap());
    for server in [&one, &other, &one, &other] {
        assert_eq!(ask(server, COURSES, &token, &named).status, 304);
    }
    for (server, remaining) in [(&other, 2), (&one, 1), (&other, 0)] {
        assert_eq!(ask(server, COURSES, &token, "").remaining(), Some(remaining));
    }
    for server in [&one, &other] {
        let refused = ask(server, COURSES, &token, "");
        assert_eq!((refused.status, refused.remaining()), (429, Some(0)));
        assert!(refused.field("retry-after").unwrap().parse::<u32>().unwrap() <= 3_600);
    }
    // A stranger's attempts are counted together too. Each server has met the key, so it goes on being limited as itself.
    let attempts = [&one, &other, &one, &other, &one, &other].map(|server| ask(server, COURSES, "guess", "").status);
    assert_eq!(attempts, [401, 401, 401, 401, 429, 429]);
}

/// A client that only gets 304 is never limited, and what nobody has used leaves nothing behind.
#[test]
fn what_is_given_back_to_redis_does_not_count() {
    let Some(redis) = Redis::start() else { return };
    let dir = TestDir::with_courses();
    let token = key(&dir);
    let server = serve(&dir, &format!("--rate-limit 2/1h --rate-limit-store {}", redis.url()));
    let first = ask(&server, COURSES, &token, "");
    let tag = format!("If-None-Match: {}\r\n", first.field("etag").unwrap());
    for _ in 0..20 {
        assert_eq!(ask(&server, COURSES, &token, &tag).status, 304);
    }
    assert_eq!(ask(&server, COURSES, &token, "").remaining(), Some(0));
    assert_eq!(ask(&server, COURSES, &token, &tag).status, 429);
}

#[test]
fn while_redis_is_away_nothing_is_limited() {
    let Some(redis) = Redis::start() else { return };
    let (port, dir) = (redis.port(), TestDir::with_courses());
    let token = key(&dir);
    let options = format!("--rate-limit 2/1h --rate-limit-store {}", redis.url());
    let mut command = dir.command(&format!("serve --listen 127.0.0.1:0 {options}"));
    let mut server = Server::start(command.stderr(Stdio::piped()));
    let mut notes = server.take_notes().map(Result::unwrap);
    let start = notes.next().unwrap();
    assert!(start.contains("2/1h in redis://127.0.0.1:"), "{start}");
    assert_eq!(ask(&server, COURSES, &token, "").remaining(), Some(1));

    drop(redis);
    for _ in 0..5 {
        let response = ask(&server, COURSES, &token, "");
        assert_eq!(
            (response.status, response.field("ratelimit"), response.field("ratelimit-policy")),
            (200, None, None)
        );
    }
    let outage = notes.next().unwrap();
    assert!(outage.contains("WARN") && outage.contains("out of reach"), "{outage}");

    // No request has to come for the server to notice, and the next one that does is counted.
    let _redis = Redis::start_at(port).unwrap();
    let recovery = notes.next().unwrap();
    assert!(recovery.contains("INFO") && recovery.contains("answers again uncounted=5"), "{recovery}");
    assert_eq!(ask(&server, COURSES, &token, "").remaining(), Some(1));
}

#[test]
fn a_redis_that_was_started_anew_between_two_requests_counts_the_second() {
    let Some(redis) = Redis::start() else { return };
    let (port, dir) = (redis.port(), TestDir::with_courses());
    let token = key(&dir);
    let observed = Observed::start(&dir, &format!("--rate-limit 2/1h --rate-limit-store {}", redis.url()));
    assert_eq!(ask(&observed.server, COURSES, &token, "").remaining(), Some(1));
    drop(redis);
    let _redis = Redis::start_at(port).unwrap();
    assert_eq!(ask(&observed.server, COURSES, &token, "").remaining(), Some(1));
    assert_eq!(observed.metrics()["catalogue_limits_uncounted_total"], 0.0);
    assert!(!observed.ended_log().contains("out of reach"));
}

#[test]
fn what_was_not_counted_is_a_metric() {
    let Some(redis) = Redis::start() else { return };
    let dir = TestDir::with_courses();
    let token = key(&dir);
    let observed = Observed::start(&dir, &format!("--rate-limit 2/1h --rate-limit-store {}", redis.url()));
    let uncounted = || observed.metrics()["catalogue_limits_uncounted_total"];
    assert_eq!(ask(&observed.server, COURSES, &token, "").remaining(), Some(1));
    assert_eq!(uncounted(), 0.0);
    drop(redis);
    for requests in 1..=3 {
        assert_eq!(ask(&observed.server, COURSES, &token, "").status, 200);
        assert_eq!(uncounted(), f64::from(requests));
    }
    // A token that is not known would have been counted by its address, and one that is refused by no credential.
    assert_eq!(ask(&observed.server, COURSES, "guess", "").status, 401);
    assert_eq!(uncounted(), 4.0);
}

#[test]
fn a_server_starts_while_its_store_is_away() {
    let dir = TestDir::with_courses();
    let token = key(&dir);
    let port = ClosedPort::new();
    let options = format!("--rate-limit 1/1h --rate-limit-store redis://127.0.0.1:{}", port.number());
    let observed = Observed::start(&dir, &options);
    // Told before anybody asks.
    observed.logs("the store of the rate limit is out of reach");
    assert_eq!(observed.metrics()["catalogue_limits_uncounted_total"], 0.0);
    for _ in 0..3 {
        let response = ask(&observed.server, COURSES, &token, "");
        assert_eq!((response.status, response.field("ratelimit")), (200, None));
    }
    assert_eq!(observed.ended_log().matches("WARN").count(), 1);
}
