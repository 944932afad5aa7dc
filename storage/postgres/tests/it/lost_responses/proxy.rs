//! A proxy before the database, which cuts a connection instead of handing on one message.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use catalogue_postgres_cluster::Cluster;

/// More than any call here exchanges.
pub(crate) const MAX_MESSAGES: usize = 500;

/// Who sends the message that is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sender {
    Client,
    Server,
}

/// The proxy.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    lost: Arc<Lost>,
}

/// Which message that is.
struct Lost {
    sender: Mutex<Sender>,
    /// How many of that side are handed on before.
    left: AtomicUsize,
}

impl Proxy {
    /// One that cuts nothing yet. It ends with the process.
    pub(crate) fn before(cluster: &Cluster) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let lost = Arc::new(Lost { sender: Mutex::new(Sender::Client), left: AtomicUsize::new(usize::MAX) });
        let (socket, shared) = (cluster.directory.join(".s.PGSQL.5432"), Arc::clone(&lost));
        thread::spawn(move || listener.incoming().for_each(|client| connect(client.unwrap(), &socket, &shared)));
        Self { port, lost }
    }

    pub(crate) fn cut(&self, sender: Sender, after: usize) {
        *self.lost.sender.lock().unwrap() = sender;
        self.lost.left.store(after, Ordering::SeqCst);
    }

    /// Cuts nothing any more; says whether anything was cut.
    pub(crate) fn stop(&self) -> bool {
        self.lost.left.swap(usize::MAX, Ordering::SeqCst) > MAX_MESSAGES
    }
}

impl Lost {
    /// Whether the next message of that side is handed on. The count is far above all messages once one was lost.
    fn passes(&self, sender: Sender) -> bool {
        *self.sender.lock().unwrap() != sender || self.left.fetch_sub(1, Ordering::SeqCst) > 0
    }
}

fn connect(client: TcpStream, socket: &Path, lost: &Arc<Lost>) {
    let server = UnixStream::connect(socket).unwrap();
    client.set_nodelay(true).unwrap();
    let (client, server) = (Arc::new(client), Arc::new(server));
    for sender in [Sender::Client, Sender::Server] {
        let (client, server, lost) = (Arc::clone(&client), Arc::clone(&server), Arc::clone(lost));
        thread::spawn(move || {
            // Either side may end at any time, which is no fault of this one.
            let _ = match sender {
                Sender::Client => pass(&*client, &*server, sender, &lost),
                Sender::Server => pass(&*server, &*client, sender, &lost),
            };
            let _ = (client.shutdown(Shutdown::Both), server.shutdown(Shutdown::Both));
        });
    }
}

fn pass(mut from: impl Read, mut to: impl Write, sender: Sender, lost: &Lost) -> io::Result<()> {
    // The first message of a client alone has no type.
    let mut next = if sender == Sender::Client { length_and_body(&mut from)? } else { message(&mut from)? };
    while lost.passes(sender) {
        to.write_all(&next)?;
        next = message(&mut from)?;
    }
    Ok(())
}

/// A message with its type, which is a letter.
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
