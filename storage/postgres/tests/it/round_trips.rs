//! Round trips to the database: of changes to keys and sign-ins, and of cached and rendered responses.

use std::io::{self, BufReader, Write};
use std::net::TcpStream;
use std::num::NonZeroUsize;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use catalogue_core::Catalogue;
use catalogue_core::admin::NewCredential;
use catalogue_core::auth::Scopes;
use catalogue_core::storage::{Actor, KeyStorage, SignInStorage};
use catalogue_postgres::PostgresStorage;
use catalogue_postgres_cluster::Cluster;
use catalogue_storage_tests::database::Api;

use crate::citus;
use crate::lost_responses::proxy::{length_and_body, listen, message};
use crate::schema::Schema;
use crate::settings::{digest, link, session};
use crate::{import_one_course, key_of};

/// A proxy in front of the database that counts round trips.
struct Counter {
    port: u16,
    count: Arc<AtomicUsize>,
}

impl Counter {
    /// Starts a proxy in front of `cluster`. It runs until the process ends.
    fn before(cluster: &Cluster) -> Self {
        let count = Arc::new(AtomicUsize::new(0));
        let shared = Arc::clone(&count);
        let port = listen(cluster, move |client, server| {
            let counted = Arc::clone(&shared);
            // Ignore errors: either side may disconnect at any time.
            thread::spawn(move || pass(&client, &server, &counted));
        });
        Self { port, count }
    }

    /// Returns the number of round trips since the last call.
    fn take(&self) -> usize {
        self.count.swap(0, Ordering::SeqCst)
    }
}

/// Forwards bytes both ways until a side ends. Messages that the client sends without waiting count as one round trip.
fn pass(mut client: &TcpStream, mut server: &UnixStream, counted: &AtomicUsize) -> io::Result<()> {
    let (mut requests, mut responses) = (BufReader::new(client), BufReader::new(server));
    // Only the first message has no type.
    server.write_all(&length_and_body(&mut requests)?)?;
    let mut awaited = 1;
    loop {
        if awaited > 0 {
            counted.fetch_add(1, Ordering::SeqCst);
        }
        while awaited > 0 {
            let response = message(&mut responses)?;
            awaited -= usize::from(response[0] == b'Z'); // ready for the next query
            client.write_all(&response)?;
        }
        loop {
            let request = message(&mut requests)?;
            awaited += usize::from(matches!(request[0], b'Q' | b'S')); // `Query` and `Sync` require a response
            server.write_all(&request)?;
            if requests.buffer().is_empty() {
                break;
            }
        }
    }
}

#[tokio::test]
async fn key_changes_run_each_statement_once() {
    let Some((schema, _, account)) = Schema::with_course().await else { return };
    let counter = Counter::before(Cluster::shared().unwrap());
    let options = schema.options_through(counter.port).connections(NonZeroUsize::MIN);
    let storage = PostgresStorage::open(&options).await.unwrap();
    let (_, key) = NewCredential::api_key(account.clone(), "a key", Scopes::default());
    let id = &*key.record.identity.credential_id;
    let (at, begun) = (key.record.created_at, session(2, 0));
    counter.take();
    // Opening the connection costs two round trips, begin and commit one each.
    storage.create_key(&key, &Actor::OWNER).await.unwrap();
    assert_eq!(counter.take(), 4 + 5);
    storage.rename_key(&account, id, "another", &Actor::OWNER).await.unwrap();
    assert_eq!(counter.take(), 4 + 3);
    storage.revoke_key(&account, id, at, &Actor::OWNER).await.unwrap();
    assert_eq!(counter.take(), 4 + 2);
    storage.create_link(&link("acc", 1, 0), &Actor::OPERATOR).await.unwrap();
    assert_eq!(counter.take(), 4 + 5);
    // Reads use a pooled connection; open it here.
    storage.find_session(&begun.digest).await.unwrap();
    counter.take();
    for unknown in [&digest(7), &digest(8)] {
        assert_eq!(storage.exchange_link(unknown, begun.created_at, &begun).await.unwrap(), None);
        assert_eq!(counter.take(), 1);
    }
    storage.exchange_link(&digest(1), begun.created_at, &begun).await.unwrap();
    assert_eq!(counter.take(), 1 + 4 + 5);
    for _ in 0..2 {
        assert!(storage.find_session(&begun.digest).await.unwrap().is_some());
        assert_eq!(counter.take(), 1);
    }
    storage.end_session(&begun.digest).await.unwrap();
    assert_eq!(counter.take(), 1 + 4 + 2);
}

#[tokio::test]
async fn cached_response_takes_one_round_trip_and_rendered_two() {
    let Some(schema) = Schema::new().await else { return };
    assert_round_trips(&schema, schema.storage().await, 1, 2).await;
}

#[tokio::test]
async fn cached_response_takes_two_round_trips_on_citus_and_rendered_three() {
    let Some(schema) = Schema::new().await else { return };
    assert_round_trips(&schema, citus::on_postgresql(&schema).await, 2, 3).await;
}

/// Asserts the round trips of a lookup and of a request whose response is rendered.
async fn assert_round_trips(schema: &Schema, direct: PostgresStorage, lookup: usize, rendered: usize) {
    let account = import_one_course(&direct).await;
    let token = key_of(&direct, &account).await;
    let counter = Counter::before(Cluster::shared().unwrap());
    // One connection: on another one the statements would be prepared again.
    let options = schema.options_through(counter.port).connections(NonZeroUsize::MIN);
    for options in [options.clone(), options.through_transaction_pooler()] {
        let storage = PostgresStorage::open(&options).await.unwrap();
        let rendering = Catalogue::with_api_keys(storage.clone()).page_cache(0).build().unwrap();
        let rendering = Api { catalogue: rendering, token: token.clone() };
        let caching = Api::new(storage, token.clone());
        let status = async |api: &Api, path: &str, tag: &str| api.get(path, tag).await.status().as_u16();
        for path in ["/api/v1/courses", "/api/v1/courses?limit=1", "/api/v1/courses/course", "/api/v1/me"] {
            // Prepares the statements, and fills the cache.
            let tag = caching.tag(path).await;
            assert!(counter.take() > 0, "{path}");
            for _ in 0..2 {
                rendering.get(path, "").await;
            }
            counter.take();
            for (api, tag, expected, round_trips) in [
                (&caching, "", 200, lookup),
                (&caching, &*tag, 304, lookup),
                (&rendering, "", 200, rendered),
                (&rendering, &tag, 304, lookup),
            ] {
                // The response needs only the credential.
                let round_trips = if path.ends_with("/me") { lookup } else { round_trips };
                assert_eq!(status(api, path, tag).await, expected, "{path} {tag}");
                assert_eq!(counter.take(), round_trips, "{path} {tag} {options:?}");
            }
        }
        for path in ["/api/v1/courses?limit=2", "/api/v1/courses?limit=3"] {
            assert_eq!(status(&caching, path, "").await, 200);
            assert_eq!(counter.take(), rendered, "a page that is not cached, {path}");
        }
        assert_eq!(status(&caching, "/api/v1/courses/absent", "").await, 404);
        assert_eq!(counter.take(), rendered, "a missing course");
        let unknown_key = "cat_key_0000000000000000000000000000000000000000000";
        let unknown = Api { token: unknown_key.to_owned(), ..caching };
        assert_eq!(status(&unknown, "/api/v1/courses", "").await, 401);
        assert!(counter.take() <= 1);
    }
}
