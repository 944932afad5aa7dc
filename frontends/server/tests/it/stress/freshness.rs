//! Several writers and several servers: each response has the last version committed before its request or a newer one
//! (decision A14), only one version, and only the caller's account.
//!
//! Runs for ten seconds on each database, or for `CATALOGUE_TEST_FRESHNESS` seconds.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{env, panic, thread};

use crate::never_stale::reader::Reader;
use crate::never_stale::sql::Sql;
use crate::postgres::fixture::Fixture;
use crate::program::{COURSES, Server, TestDir};

const PATHS: [&str; 3] = ["/api/v1/courses", "/api/v1/courses?limit=1", "/api/v1/courses/one"];
const SERVERS: usize = 2;
const WRITERS: usize = 2;
/// Minimum commits and responses per second, which even a busy machine reaches. Most reach hundreds of times as many.
const MIN_VERSIONS: u64 = 2;
const MIN_RESPONSES: u64 = 20;

/// Gives all courses of an account the next version in one commit, and returns the first course's new title.
type Write = Box<dyn FnMut(&str) -> String + Send>;

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

/// Returns SQL, valid in both dialects, that increments the version.
fn next_version(account: &str) -> String {
    format!(
        "UPDATE courses SET title = account_id || ' ' || (CAST(substr(title, 3) AS INTEGER) + 1) \
         WHERE account_id = '{account}' RETURNING title"
    )
}

fn first_version(account: &str) -> String {
    format!("UPDATE courses SET title = '{account} 0' WHERE account_id = '{account}'")
}

/// Returns the version in `title`, which must be a title of `account`.
fn version_of(title: &str, account: &str) -> u64 {
    let version = title.strip_prefix(account).and_then(|rest| rest.strip_prefix(' '));
    version.and_then(|version| version.parse().ok()).unwrap_or_else(|| panic!("{account} got {title:?}"))
}

fn write_on(owner: &Owner, write: &mut Write, counts: &Counts) {
    owner.begun.fetch_add(1, Ordering::SeqCst);
    let version = version_of(&write(owner.id), owner.id);
    owner.committed.fetch_max(version, Ordering::SeqCst);
    counts.versions.fetch_add(1, Ordering::SeqCst);
}

/// Reads every path once, with the last ETag every other time.
fn read_paths(owner: &Owner, reader: &mut Reader, tags: &mut HashMap<&str, (String, u64)>, counts: &Counts) {
    for (path, number) in PATHS.iter().zip(counts.responses.load(Ordering::SeqCst)..) {
        let (tag, known) = tags.get(path).filter(|_| number % 2 == 0).cloned().unwrap_or_default();
        let at_least = owner.committed.load(Ordering::SeqCst);
        let response = reader.get(path, &tag);
        let at_most = owner.begun.load(Ordering::SeqCst);
        let version = if response.status == 304 {
            counts.unchanged.fetch_add(1, Ordering::SeqCst);
            known
        } else {
            assert_eq!(response.status, 200, "{path}: {response:?}");
            let titles = response.body.split(r#""title":""#).skip(1).filter_map(|rest| rest.split('"').next());
            // Modules also have titles.
            let mut versions = titles.filter(|title| *title != "M").map(|title| version_of(title, owner.id));
            let version = versions.next().unwrap();
            assert!(versions.all(|other| other == version), "{path} contains two versions: {response:?}");
            version
        };
        assert!((at_least..=at_most).contains(&version), "{path}: got {version} after {at_least}: {response:?}");
        tags.insert(path, (response.tag, version));
        counts.responses.fetch_add(1, Ordering::SeqCst);
    }
}

fn check(database: &str, owners: &[Owner], mut writers: Vec<Write>, servers: &[Server]) {
    let seconds = env::var("CATALOGUE_TEST_FRESHNESS").map_or(10, |text| text.parse().expect("a number of seconds"));
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
    thread::scope(|scope| {
        for (write, owner) in writers.iter_mut().zip(owners.iter().cycle()) {
            let (counts, ending) = (&counts, &ending);
            scope.spawn(move || ending(&mut || write_on(owner, write, counts)));
        }
        for (server, owner) in servers.iter().flat_map(|server| owners.iter().map(move |owner| (server, owner))) {
            let (counts, ending) = (&counts, &ending);
            scope.spawn(move || {
                let (mut reader, mut tags) =
                    (Reader::connect(&server.address, &owner.token, "a server"), HashMap::new());
                ending(&mut || read_paths(owner, &mut reader, &mut tags, counts));
            });
        }
    });
    let [versions, responses, unchanged] =
        [counts.versions, counts.responses, counts.unchanged].map(AtomicU64::into_inner);
    println!(
        "{database}: {versions} versions, {responses} responses, {unchanged} of them 304: none older than its request"
    );
    assert!(versions >= MIN_VERSIONS * seconds && responses >= MIN_RESPONSES * seconds, "too few commits or responses");
}

const KEY: &str = "keys create --name n --scope read:courses --json --account";

#[test]
#[ignore = "a stress test"]
fn sqlite_responses_are_fresh() {
    let dir = TestDir::in_memory();
    dir.run_reading(COURSES, "import -").succeeds();
    let key = |id| dir.run(&format!("{KEY} {id}")).json()["token"].as_str().unwrap().to_owned();
    let owners = ["a", "b"].map(|id| Owner::new(id, key(id)));
    let sql = || Sql::open(&dir.path("catalogue.db"));
    owners.iter().for_each(|owner| drop(sql().run(&first_version(owner.id))));
    let writer = |mut sql: Sql| -> Write {
        Box::new(move |account| {
            let titles = sql.run(&next_version(account));
            // The title of the first course.
            titles.split(' ').take(2).collect::<Vec<_>>().join(" ")
        })
    };
    let writers = (0..WRITERS * owners.len()).map(|_| writer(sql())).collect();
    let servers = [0; SERVERS].map(|_| Server::start(&mut dir.command("serve --listen 127.0.0.1:0 --log off")));
    check("SQLite", &owners, writers, &servers);
}

#[test]
#[ignore = "a stress test"]
fn postgres_responses_are_fresh() {
    let Some(fixture) = Fixture::with_courses() else { return };
    let owners = ["a", "b"].map(|id| Owner::new(id, fixture.key(id).1));
    owners.iter().for_each(|owner| fixture.session().run(&first_version(owner.id)));
    let writer = |_| -> Write {
        let session = fixture.session();
        Box::new(move |account| {
            // Prevents a deadlock of two writers that change the account's courses, which PostgreSQL would end by an error.
            session.run(&format!("BEGIN; SELECT 1 FROM accounts WHERE id = '{account}' FOR UPDATE"));
            let title = session.texts(&next_version(account)).swap_remove(0);
            session.run("COMMIT");
            title
        })
    };
    let writers = (0..WRITERS * owners.len()).map(writer).collect();
    let servers = [0; SERVERS].map(|_| fixture.serve("--log off"));
    check("PostgreSQL", &owners, writers, &servers);
}
