//! Requests to two servers during commits, in many random schedules. No response is older than a commit before its
//! request, mixes two versions or has another account's courses. A tag has one body. No request blocks others.

use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use catalogue_core::{Catalogue, Course};
use catalogue_storage_conformance::sample;
use catalogue_storage_tests::intercept::{Intercept, Point};
use http::{Request, Response};

use crate::app::{OTHER, OWNER, TestApp};

/// Number of schedules.
const SCHEDULES: u64 = 1_000;

const PATHS: [&str; 4] =
    ["/api/v1/courses", "/api/v1/courses?limit=2", "/api/v1/courses/one", "/api/v1/courses?limit=3"];

/// An account, and the versions of its courses.
struct Owner {
    id: &'static str,
    token: String,
    /// Version of the newest commit that has begun.
    begun: AtomicU64,
    /// Version of the newest commit that has ended.
    committed: AtomicU64,
}

/// Two servers over one storage, each with a page cache for a few responses.
struct World {
    app: TestApp,
    servers: [Catalogue; 2],
    owners: Vec<Owner>,
    /// Body and version of each tag.
    tags: Mutex<HashMap<String, (Bytes, u64)>>,
    /// Number of 304s, and number of 200s.
    response_counts: [AtomicU64; 2],
}

impl World {
    async fn new() -> Self {
        let app = TestApp::new().await;
        let servers = [(); 2].map(|()| {
            // Other tasks can run before and after each read of a revision.
            let storage = Intercept::new(app.storage.clone()).on_call(|call, point| async move {
                let is_at_revision = point != Point::Begun || call == "revision";
                if is_at_revision && call != "find_credential" {
                    yield_now().await;
                }
                Ok(())
            });
            Catalogue::with_api_keys(storage).page_cache(6 << 10).build().unwrap()
        });
        let mut owners = Vec::new();
        for id in [OWNER, OTHER] {
            let (token, begun, committed) = (app.key(id, "read:courses").await, AtomicU64::new(0), AtomicU64::new(0));
            owners.push(Owner { id, token, begun, committed });
        }
        let world = Self { app, servers, owners, tags: Mutex::default(), response_counts: Default::default() };
        for owner in &world.owners {
            world.commit(owner).await;
        }
        world
    }

    /// Changes both courses of the account in one commit.
    async fn commit(&self, owner: &Owner) {
        let version = owner.begun.fetch_add(1, Ordering::SeqCst) + 1;
        self.app.put(["one", "two"].map(|slug| course(owner.id, slug, version))).await;
        owner.committed.store(version, Ordering::SeqCst);
    }

    fn call<'w>(
        &'w self,
        server: usize,
        owner: &Owner,
        path: &str,
        tag: &str,
    ) -> impl Future<Output = Response<Bytes>> + 'w {
        let request = Request::get(path).header("authorization", format!("Bearer {}", owner.token));
        self.servers[server].call(request.header("if-none-match", tag).body(()).unwrap())
    }

    /// Requests `path` with `tag`, checks that the response is not older than earlier commits, and returns its tag.
    async fn get(&self, server: usize, owner: &Owner, path: &str, tag: &str) -> String {
        let at_least = owner.committed.load(Ordering::SeqCst);
        let response = self.call(server, owner, path, tag).await;
        let at_most = owner.begun.load(Ordering::SeqCst);
        let is_new = response.status() == 200;
        assert!(is_new || response.status() == 304, "{response:?}");
        self.response_counts[usize::from(is_new)].fetch_add(1, Ordering::SeqCst);
        let tag = response.headers()["etag"].to_str().unwrap().to_owned();
        let version = if is_new {
            let version = version_in(response.body(), owner.id);
            let mut tags = self.tags.lock().unwrap();
            let (body, _) = tags.entry(tag.clone()).or_insert_with(|| (response.body().clone(), version));
            assert_eq!(body, response.body(), "{tag} has two bodies");
            version
        } else {
            self.tags.lock().unwrap()[&tag].1
        };
        assert!((at_least..=at_most).contains(&version), "{path} shows {version}, not {at_least} to {at_most}");
        tag
    }

    /// Begins a request, and drops it after `polls` polls.
    async fn disconnect(&self, server: usize, owner: &Owner, polls: usize) {
        let mut call = pin!(self.call(server, owner, PATHS[0], ""));
        for _ in 0..polls {
            let is_done = poll_fn(|context| Poll::Ready(call.as_mut().poll(context).is_ready())).await;
            if is_done {
                return;
            }
            yield_now().await;
        }
    }
}

/// Lets other tasks run.
async fn yield_now() {
    let mut has_yielded = false;
    poll_fn(|_| if std::mem::replace(&mut has_yielded, true) { Poll::Ready(()) } else { Poll::Pending }).await;
}

/// Runs all tasks to completion, and polls a random task at each step. Equal seeds cause equal schedules.
fn run(seed: u64, mut tasks: Vec<Pin<Box<dyn Future<Output = ()> + '_>>>) {
    let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    while !tasks.is_empty() {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let at = (random >> 33) as usize % tasks.len();
        if tasks[at].as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
            drop(tasks.swap_remove(at));
        }
    }
}

fn course(account: &str, slug: &str, version: u64) -> Course {
    Course { title: format!("{account} {version}"), ..sample::course(account, slug) }
}

/// Returns the version of all courses in `body`, which must belong to `account`.
#[track_caller]
fn version_in(body: &[u8], account: &str) -> u64 {
    let body = String::from_utf8_lossy(body);
    let mut titles = body.split(r#""title":""#).skip(1).map(|rest| rest.split('"').next().unwrap());
    let first = titles.next().unwrap();
    assert!(titles.all(|title| title == first), "two versions: {body}");
    let (owner, version) = first.split_once(' ').unwrap();
    assert_eq!(owner, account, "a course of another account");
    version.parse().unwrap()
}

#[test]
fn responses_are_consistent_during_commits() {
    let world = tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(World::new());
    let world = &world;
    for seed in 0..SCHEDULES {
        let mut tasks: Vec<Pin<Box<dyn Future<Output = ()>>>> = Vec::new();
        for number in 0..4 {
            tasks.push(Box::pin(async move {
                let owner = &world.owners[number / 3];
                let mut tag = String::new();
                for turn in 0..3 {
                    let path = PATHS[(number * turn) % PATHS.len()];
                    tag = world.get(number % 2, owner, path, &tag).await;
                }
                world.disconnect(number % 2, owner, number + 1).await;
            }));
        }
        tasks.push(Box::pin(async move {
            for number in [0, 1, 0] {
                world.commit(&world.owners[number]).await;
                yield_now().await;
            }
        }));
        run(seed, tasks);
        world.tags.lock().unwrap().clear();
    }
    let cached: u64 = world.servers.iter().map(|server| server.page_cache().hits).sum();
    let [unchanged, sent] = world.response_counts.each_ref().map(|count| count.load(Ordering::SeqCst));
    assert!(cached > 50 && unchanged > 50 && sent > 500, "{cached} cached, {unchanged} unchanged, {sent} sent");
}
