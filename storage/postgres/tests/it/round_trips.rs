//! Round trips to the database: one for a cached response, two for a rendered one.

use std::io::{self, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::num::NonZeroUsize;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use catalogue_core::Catalogue;
use catalogue_core::admin::NewCredential;
use catalogue_core::auth::Scopes;
use catalogue_core::storage::{Actor, KeyStorage, SignInStorage};
use catalogue_postgres::PostgresStorage;
use catalogue_postgres_cluster::Cluster;
use http::Request;

use crate::citus;
use crate::lost_responses::proxy::{length_and_body, message};
use crate::schema::Schema;
use crate::settings::{digest, link, session};
use crate::{import_one_course, key_of};

/// A proxy before the database that counts how often a client asks it and waits.
struct Counter {
    port: u16,
    count: Arc<AtomicUsize>,
}

impl Counter {
    /// Starts a proxy before `cluster`, which runs until the process ends.
    fn before(cluster: &Cluster) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let count = Arc::new(AtomicUsize::new(0));
        let (socket, counted) = (cluster.directory.join(".s.PGSQL.5432"), Arc::clone(&count));
        thread::spawn(move || {
            for client in listener.incoming() {
                let (client, socket, counted) = (client.unwrap(), socket.clone(), Arc::clone(&counted));
                // Either side may end at any time, which is no fault of this one.
                thread::spawn(move || pass(&client, &socket, &counted));
            }
        });
        Self { port, count }
    }

    /// How often the database was asked since this was called last.
    fn take(&self) -> usize {
        self.count.swap(0, Ordering::SeqCst)
    }
}

/// Hands on what both say, until one of them ends. What the client sends without waiting for an answer is one round trip.
fn pass(client: &TcpStream, socket: &Path, counted: &AtomicUsize) -> io::Result<()> {
    client.set_nodelay(true)?;
    let server = UnixStream::connect(socket)?;
    let (mut questions, mut answers) = (BufReader::new(client), BufReader::new(&server));
    // The first message alone has no type.
    (&server).write_all(&length_and_body(&mut questions)?)?;
    let mut awaited = 1;
    loop {
        if awaited > 0 {
            counted.fetch_add(1, Ordering::SeqCst);
        }
        while awaited > 0 {
            let answer = message(&mut answers)?;
            awaited -= usize::from(answer[0] == b'Z'); // ready for the next
            (&*client).write_all(&answer)?;
        }
        loop {
            let question = message(&mut questions)?;
            awaited += usize::from(matches!(question[0], b'Q' | b'S')); // `Query` and `Sync` ask for an answer
            (&server).write_all(&question)?;
            if questions.buffer().is_empty() {
                break;
            }
        }
    }
}

#[tokio::test]
async fn a_change_to_keys_asks_each_statement_once() {
    let Some(schema) = Schema::new().await else { return };
    let account = import_one_course(&schema.storage().await).await;
    let cluster = Cluster::shared().unwrap();
    let counter = Counter::before(cluster);
    let through = format!("host=127.0.0.1 port={} ", counter.port);
    let address = schema.address().replace(&format!("host={} ", cluster.directory.display()), &through);
    let options = Schema::options_of(&address).connections(NonZeroUsize::MIN);
    let storage = PostgresStorage::open(&options).await.unwrap();
    let (_, key) = NewCredential::api_key(account.clone(), "a key", Scopes::default());
    let id = &*key.record.identity.credential_id;
    let (at, begun) = (key.record.created_at, session(2, 0));
    counter.take();
    // With the two of the connection, the begin and the commit.
    storage.create_key(&key, &Actor::OWNER).await.unwrap();
    assert_eq!(counter.take(), 4 + 5);
    storage.rename_key(&account, id, "another", &Actor::OWNER).await.unwrap();
    assert_eq!(counter.take(), 4 + 3);
    storage.revoke_key(&account, id, at, &Actor::OWNER).await.unwrap();
    assert_eq!(counter.take(), 4 + 2);
    storage.create_link(&link("acc", 1, 0), &Actor::OPERATOR).await.unwrap();
    assert_eq!(counter.take(), 4 + 5);
    // What is read is asked over the pool.
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
async fn cached_response_takes_one_round_trip_and_rendered_one_two() {
    let Some(schema) = Schema::new().await else { return };
    assert_asked(&schema, schema.storage().await, 1, 2).await;
}

#[tokio::test]
async fn with_tables_for_citus_a_kept_answer_asks_twice_and_a_rendered_one_three_times() {
    let Some(schema) = Schema::new().await else { return };
    assert_asked(&schema, citus::on_postgresql(&schema).await, 2, 3).await;
}

/// A look-up asks that often, and so does a request whose answer is rendered.
async fn assert_asked(schema: &Schema, direct: PostgresStorage, look_up: usize, rendered: usize) {
    let account = import_one_course(&direct).await;
    let token = key_of(&direct, &account).await;

    let cluster = Cluster::shared().unwrap();
    let counter = Counter::before(cluster);
    let through = format!("host=127.0.0.1 port={} ", counter.port);
    let address = schema.address().replace(&format!("host={} ", cluster.directory.display()), &through);
    // One connection: on another one the statements would be prepared anew.
    let options = Schema::options_of(&address).connections(NonZeroUsize::MIN);
    for options in [options.clone(), options.through_transaction_pooler()] {
        let storage = PostgresStorage::open(&options).await.unwrap();
        let keeping = Catalogue::with_api_keys(storage.clone()).build().unwrap();
        let rendering = Catalogue::with_api_keys(storage).page_cache(0).build().unwrap();
        let ask = async |catalogue: &Catalogue, path: &str, token: &str, tag: &str| {
            let request = Request::get(path).header("authorization", format!("Bearer {token}"));
            let response = catalogue.call(request.header("if-none-match", tag).body(()).unwrap()).await;
            let tag = response.headers().get("etag").map_or(String::new(), |tag| tag.to_str().unwrap().to_owned());
            (response.status().as_u16(), tag)
        };
        for path in ["/api/v1/courses", "/api/v1/courses?limit=1", "/api/v1/courses/course", "/api/v1/me"] {
            // Prepares the statements, and renders what is kept from then on.
            let (status, tag) = ask(&keeping, path, &token, "").await;
            assert_eq!((status, counter.take() > 0), (200, true), "{path}");
            for _ in 0..2 {
                ask(&rendering, path, &token, "").await;
            }
            counter.take();
            for (catalogue, tag, status, round_trips) in [
                (&keeping, "", 200, look_up),
                (&keeping, &*tag, 304, look_up),
                (&rendering, "", 200, rendered),
                (&rendering, &tag, 304, look_up),
            ] {
                // Who the caller is stands in the credential.
                let round_trips = if path.ends_with("/me") { look_up } else { round_trips };
                assert_eq!(ask(catalogue, path, &token, tag).await.0, status, "{path} {tag}");
                assert_eq!(counter.take(), round_trips, "{path} {tag} {options:?}");
            }
        }
        for path in ["/api/v1/courses?limit=2", "/api/v1/courses?limit=3"] {
            assert_eq!(ask(&keeping, path, &token, "").await.0, 200);
            assert_eq!(counter.take(), rendered, "a page that nobody has asked for, {path}");
        }
        assert_eq!(ask(&keeping, "/api/v1/courses/absent", &token, "").await.0, 404);
        assert_eq!(counter.take(), rendered, "a course that is not there");
        let nobodys = "cat_key_0000000000000000000000000000000000000000000";
        assert_eq!(ask(&keeping, "/api/v1/courses", nobodys, "").await.0, 401);
        assert!(counter.take() <= 1);
    }
}
