//! Several writers and several servers: each response has the last version committed before its request or a newer one
//! (decision A14), only one version, and only the caller's account.
//!
//! Runs for a second on each database. The stress test runs for ten seconds, or for `CATALOGUE_TEST_FRESHNESS` seconds.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{env, panic, thread};

use crate::databases::{Host, on_each_database};
use crate::never_stale::reader::Reader;
use crate::program::{COURSES, TestDir};

on_each_database!(
    responses_are_fresh,
    #[ignore = "a stress test"]
    responses_are_fresh_for_long,
);

const PATHS: [&str; 3] = ["/api/v1/courses", "/api/v1/courses?limit=1", "/api/v1/courses/one"];
const SERVERS: usize = 2;
const WRITERS: usize = 2;
/// Minimum commits and responses per second, which even a busy machine reaches. Most reach hundreds of times as many.
const MIN_VERSIONS: u64 = 2;
const MIN_RESPONSES: u64 = 20;

/// An account, a key to it, and the bounds of the version of its courses.
struct Owner {
    id: &'static str,
    token: String,
    begun: AtomicU64,
    committed: AtomicU64,
}

impl Owner {
    fn new(id: &'static str, token: String) -> Self {
        Self { id, token, begun: AtomicU64::new(0), committed: AtomicU64::new(0) }
    }
}

/// Numbers of commits and responses.
#[derive(Default)]
struct Counts {
    versions: AtomicU64,
    responses: AtomicU64,
    unchanged: AtomicU64,
}

/// Returns the version in `title`, which must be a title of `account`.
fn version_of(title: &str, account: &str) -> u64 {
    let version = title.strip_prefix(account).and_then(|rest| rest.strip_prefix(' '));
    version.and_then(|version| version.parse().ok()).unwrap_or_else(|| panic!("{account} got {title:?}"))
}

/// Gives all courses and modules of an account the next version in one commit.
fn write_on(dir: &TestDir, owner: &Owner, host: &Host, counts: &Counts) {
    let id = owner.id;
    owner.begun.fetch_add(1, Ordering::SeqCst);
    match dir.is_postgres() {
        // Prevents a deadlock of two writers that change the account's courses, which PostgreSQL would end by an error.
        true => host.run(&format!("BEGIN; SELECT 1 FROM accounts WHERE id = '{id}' FOR UPDATE")),
        false => host.run("BEGIN IMMEDIATE"),
    }
    let titles = host.texts(&format!(
        "UPDATE courses SET title = account_id || ' ' || (CAST(substr(title, 3) AS INTEGER) + 1) \
         WHERE account_id = '{id}' RETURNING title"
    ));
    host.run(&format!("UPDATE modules SET title = '{}' WHERE account_id = '{id}'; COMMIT", titles[0]));
    owner.committed.fetch_max(version_of(&titles[0], id), Ordering::SeqCst);
    counts.versions.fetch_add(1, Ordering::SeqCst);
}

/// Reads every path once, with the last ETag every other time.
fn read_paths(owner: &Owner, reader: &mut Reader, tags: &mut HashMap<&str, (String, u64)>, counts: &Counts) {
    for (path, number) in PATHS.iter().zip(counts.responses.load(Ordering::SeqCst)..) {
        let (tag, known) = tags.get(path).filter(|_| number % 2 == 0).cloned().unwrap_or_default();
        let last = tags.values().map(|(_, version)| *version).max().unwrap_or_default();
        let at_least = owner.committed.load(Ordering::SeqCst).max(last);
        let response = reader.get(path, &tag);
        let at_most = owner.begun.load(Ordering::SeqCst);
        let version = if response.status == 304 {
            counts.unchanged.fetch_add(1, Ordering::SeqCst);
            known
        } else {
            assert_eq!(response.status, 200, "{path}: {response:?}");
            let titles = response.body.split(r#""title":""#).skip(1).filter_map(|rest| rest.split('"').next());
            let mut versions = titles.map(|title| version_of(title, owner.id));
            let version = versions.next().unwrap();
            assert!(versions.all(|other| other == version), "{path} contains two versions: {response:?}");
            version
        };
        assert!(
            (at_least..=at_most).contains(&version),
            "{path}: got {version} after {at_least} was committed or read: {response:?}"
        );
        tags.insert(path, (response.field("etag").unwrap_or_default().to_owned(), version));
        counts.responses.fetch_add(1, Ordering::SeqCst);
    }
}

fn responses_are_fresh(dir: &TestDir) {
    assert_responses_are_fresh(dir, 1);
}

fn responses_are_fresh_for_long(dir: &TestDir) {
    assert_responses_are_fresh(dir, env::var("CATALOGUE_TEST_FRESHNESS").map_or(10, |text| text.parse().unwrap()));
}

fn assert_responses_are_fresh(dir: &TestDir, seconds: u64) {
    dir.import(COURSES);
    let owners = ["a", "b"].map(|id| Owner::new(id, dir.key(id).1));
    for table in ["courses", "modules"] {
        dir.host().run(&format!("UPDATE {table} SET title = account_id || ' 0'"));
    }
    let writers = [(); WRITERS].map(|()| owners.each_ref().map(|owner| (owner, dir.host()))).into_iter().flatten();
    let servers = [(); SERVERS].map(|()| dir.serve("--log off"));
    let (counts, over) = (Counts::default(), AtomicBool::new(false));
    let until = Instant::now() + Duration::from_secs(seconds);
    let is_running = || Instant::now() < until && !over.load(Ordering::SeqCst);
    // A thread that fails ends the others.
    let ending = |work: &mut dyn FnMut()| {
        while is_running() {
            let done = panic::catch_unwind(panic::AssertUnwindSafe(&mut *work));
            over.fetch_or(done.is_err(), Ordering::SeqCst);
            done.unwrap_or_else(|payload| panic::resume_unwind(payload));
        }
    };
    let (counts, ending) = (&counts, &ending);
    thread::scope(|scope| {
        for (number, (owner, host)) in writers.enumerate() {
            if !dir.is_postgres() {
                // The first writers checkpoint after each commit, so checkpoints are frequent.
                host.run(&format!("PRAGMA wal_autocheckpoint = {}", [1, 2, 1000, 1000][number]));
            }
            scope.spawn(move || ending(&mut || write_on(dir, owner, &host, counts)));
        }
        for (server, owner) in servers.iter().flat_map(|server| owners.iter().map(move |owner| (server, owner))) {
            scope.spawn(move || {
                let (mut reader, mut tags) =
                    (Reader::connect(&server.address, &owner.token, "a server"), HashMap::new());
                ending(&mut || read_paths(owner, &mut reader, &mut tags, counts));
            });
        }
    });
    let [versions, responses, unchanged] =
        [&counts.versions, &counts.responses, &counts.unchanged].map(|count| count.load(Ordering::SeqCst));
    let database = dir.database_name();
    println!(
        "{database}: {versions} versions, {responses} responses, {unchanged} of them 304: none older than its request"
    );
    assert!(versions >= MIN_VERSIONS * seconds && responses >= MIN_RESPONSES * seconds, "too few commits or responses");
    for (server, owner) in servers.iter().flat_map(|server| owners.iter().map(move |owner| (server, owner))) {
        let title = format!("{} {}", owner.id, owner.begun.load(Ordering::SeqCst));
        assert_eq!(server.get(PATHS[2], &owner.token).1["data"]["title"], title);
    }
}
