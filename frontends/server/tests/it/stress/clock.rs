//! Steps of the system clock, by up to two hours in both directions, under a running server.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use catalogue_core::Timestamp;

use crate::databases::on_each_database;
use crate::program::{COURSES, Server, TestDir, TestResponse, text};
use crate::skip::or_skip_unless;

on_each_database!(
    #[ignore = "a stress test"]
    clock_steps_are_harmless,
);

const HOUR: i64 = 3_600;
/// Seconds that the clock is ahead, step by step.
const STEPS: [i64; 7] = [0, HOUR, 0, -HOUR, HOUR, -HOUR, 0];
const LIST: &str = "/api/v1/courses";
/// Rate limit with a window short enough for a test.
const LIMIT: &str = "--rate-limit 20/2s";
const WINDOW: Duration = Duration::from_secs(2);

/// A clock that can be set for the programs started with it.
struct Clock(TestDir);

impl Clock {
    /// Compiles the clock. Prints a line and returns `None` if the compiler is missing.
    fn new() -> Option<Self> {
        let clock = Self(TestDir::new());
        clock.set(0);
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/stress/clock.c");
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o"]).arg(clock.0.path("clock.so")).arg(source);
        let is_compiled = compiler.status().is_ok_and(|status| status.success());
        or_skip_unless(
            "cc",
            is_compiled.then_some(clock).ok_or_else(|| "a settable clock needs a C compiler".to_owned()),
        )
    }

    fn set(&self, ahead: i64) {
        let path = self.0.path("ahead");
        // Overwritten in place, as programs have mapped the file.
        let file = fs::File::options().create(true).truncate(false).write(true).open(path).unwrap();
        std::os::unix::fs::FileExt::write_all_at(&file, &ahead.to_ne_bytes(), 0).unwrap();
    }

    fn put_before<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command.env("LD_PRELOAD", self.0.path("clock.so")).env("CLOCK_AHEAD", self.0.path("ahead"))
    }
}

/// Returns the Unix time by a clock that is `ahead` seconds ahead.
fn now(ahead: i64) -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()).unwrap() + ahead
}

fn instant(seconds: i64) -> Timestamp {
    Timestamp::from_microseconds(seconds * 1_000_000).unwrap()
}

/// Returns the Unix time in the `Date` header.
fn date(head: &TestResponse) -> i64 {
    let format = time::format_description::parse_borrowed::<2>(
        "[weekday repr:short], [day] [month repr:short] [year] [hour]:[minute]:[second] GMT",
    );
    let date = time::PrimitiveDateTime::parse(head.field("date").unwrap(), &format.unwrap()).unwrap();
    date.assume_utc().unix_timestamp()
}

/// Asserts that a step of the clock locks no client out.
/// Exhausts the key's rate limit, steps the clock, and sends requests for up to ten windows until one is allowed.
fn assert_not_locked_out_by_step(server: &Server, token: &str, step: impl FnOnce()) {
    let began = Instant::now();
    let refused = loop {
        let head = server.get_head(LIST, token, "");
        if head.status != 200 {
            break head;
        }
    };
    assert_eq!(refused.status, 429);
    let seconds: u64 = refused.field("retry-after").unwrap().parse().unwrap();
    assert!(seconds <= WINDOW.as_secs(), "{refused:?}");
    step();
    let stepped = Instant::now();
    while server.get_head(LIST, token, "").status != 200 {
        assert!(stepped.elapsed() < 10 * WINDOW, "locked out for {:?} after {:?}", stepped.elapsed(), began.elapsed());
    }
}

fn clock_steps_are_harmless(dir: &TestDir) {
    let Some(clock) = Clock::new() else { return };
    dir.import(COURSES);
    let host = dir.host();
    let [(id, token), (_, limited)] = [dir.key("a"), dir.key("a")];
    let end = now(HOUR / 2);
    let ending = dir.run("keys create --account a --name n --scope read:courses --expires-in 30m").succeeds();
    let mut command = dir.command(&format!("serve --listen 127.0.0.1:0 --log warn {LIMIT}"));
    let mut server = Server::start(clock.put_before(&mut command).stderr(Stdio::piped()));
    let (mut tag, mut latest) = (String::new(), 0);
    for (number, ahead) in STEPS.into_iter().enumerate() {
        assert_not_locked_out_by_step(&server, &limited, || clock.set(ahead));
        // Only a commit changes the response, and the next response contains the change.
        host.run(&format!("UPDATE courses SET title = 'Step {number}' WHERE account_id = 'a'"));
        for status in [200, 304, 304] {
            let head = server.get_head(LIST, &token, &format!("If-None-Match: {tag}\r\n"));
            assert_eq!(head.status, status, "step {number}: {head:?}");
            head.field("etag").unwrap().clone_into(&mut tag);
            // After a step back, hyper repeats the last date until the clock has caught up.
            let (least, most) = (now(ahead) - 5, now(ahead).max(latest));
            assert!((least..=most).contains(&date(&head)), "step {number}: {head:?}");
            latest = most;
        }
        let (_, list) = server.get(LIST, &token);
        assert_eq!(list["data"][0]["title"], format!("Step {number}"));
        let expected = if now(ahead) < end { 200 } else { 401 };
        assert_eq!(server.get(LIST, ending.trim_end()).0, expected, "step {number}");
    }
    clock.set(HOUR);
    assert_eq!(server.get(LIST, &token).0, 200);
    clock.set(0);
    assert_eq!(server.get(LIST, &token).0, 200);
    server.signal("TERM");
    let notes: Vec<_> = server.take_notes().map(Result::unwrap).collect();
    assert_eq!(notes, [""; 0]);
    assert_eq!(server.wait(), Some(0));
    // The recorded use has the latest time of the stepped clock. The uses after it have earlier times.
    let used = Timestamp::parse(text(&dir.listed(&id), "lastUsedAt")).unwrap();
    assert!(used > instant(now(HOUR - 600)) && used <= instant(now(HOUR + 1)), "{used}");
    println!("{} steps of the clock: no stale response, no client locked out, no log line", STEPS.len());
}
