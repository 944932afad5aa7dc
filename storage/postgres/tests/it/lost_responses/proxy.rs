//! A proxy in front of the database, which cuts a connection instead of forwarding one message.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use catalogue_postgres_cluster::Cluster;

/// Upper bound for the number of messages that a call in these tests exchanges.
pub(crate) const MAX_MESSAGES: usize = 500;

/// The sender of the message that is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sender {
    Client,
    Server,
}

/// A proxy in front of a cluster.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    lost: Arc<Lost>,
}

/// The message that is lost.
struct Lost {
    sender: Mutex<Sender>,
    /// Number of messages of `sender` to forward first.
    left: AtomicUsize,
}

impl Proxy {
    /// Starts a proxy that cuts nothing yet. It runs until the process ends.
    pub(crate) fn before(cluster: &Cluster) -> Self {
        let lost = Arc::new(Lost { sender: Mutex::new(Sender::Client), left: AtomicUsize::new(usize::MAX) });
        let shared = Arc::clone(&lost);
        Self { port: listen(cluster, move |client, server| connect(client, server, &shared)), lost }
    }

    pub(crate) fn cut(&self, sender: Sender, after: usize) {
        *self.lost.sender.lock().unwrap() = sender;
        self.lost.left.store(after, Ordering::SeqCst);
    }

    /// Stops cutting. Returns whether a connection was cut.
    pub(crate) fn stop(&self) -> bool {
        self.lost.left.swap(usize::MAX, Ordering::SeqCst) > MAX_MESSAGES
    }
}

impl Lost {
    /// Returns whether to forward the next message of `sender`. At the lost message, `left` wraps and exceeds [`MAX_MESSAGES`].
    fn forwards(&self, sender: Sender) -> bool {
        *self.sender.lock().unwrap() != sender || self.left.fetch_sub(1, Ordering::SeqCst) > 0
    }
}

/// Calls `serve` with each client of the returned port and a connection to `cluster`, until the process ends.
pub(crate) fn listen(cluster: &Cluster, serve: impl Fn(TcpStream, UnixStream) + Send + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let socket = cluster.directory.join(".s.PGSQL.5432");
    thread::spawn(move || {
        for client in listener.incoming().map(Result::unwrap) {
            client.set_nodelay(true).unwrap();
            serve(client, UnixStream::connect(&socket).unwrap());
        }
    });
    port
}

fn connect(client: TcpStream, server: UnixStream, lost: &Arc<Lost>) {
    let (client, server) = (Arc::new(client), Arc::new(server));
    for sender in [Sender::Client, Sender::Server] {
        let (client, server, lost) = (Arc::clone(&client), Arc::clone(&server), Arc::clone(lost));
        thread::spawn(move || {
            // Ignore errors: either side may disconnect at any time.
            let _ = match sender {
                Sender::Client => forward(&*client, &*server, sender, &lost),
                Sender::Server => forward(&*server, &*client, sender, &lost),
            };
            let _ = (client.shutdown(Shutdown::Both), server.shutdown(Shutdown::Both));
        });
    }
}

fn forward(mut from: impl Read, mut to: impl Write, sender: Sender, lost: &Lost) -> io::Result<()> {
    // Only the first message of a client has no type.
    let mut next = if sender == Sender::Client { length_and_body(&mut from)? } else { message(&mut from)? };
    while lost.forwards(sender) {
        to.write_all(&next)?;
        next = message(&mut from)?;
    }
    Ok(())
}

/// Reads a message with its type byte.
pub(crate) fn message(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut kind = [0];
    from.read_exact(&mut kind)?;
    Ok([kind.to_vec(), length_and_body(from)?].concat())
}

pub(crate) fn length_and_body(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let mut message = length.to_vec();
    from.take(u64::from(u32::from_be_bytes(length)) - 4).read_to_end(&mut message)?;
    Ok(message)
}
