//! [`Collector`]: a fake collector that records requests and returns a configurable response.

use std::io::{BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::schema::{Export, Span};
use crate::program::read_message;

/// A received request.
pub(crate) struct Post {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Post {
    pub(crate) fn export(&self) -> Export {
        Export::read(&self.body)
    }
}

/// A collector on a thread, which ends with the test process.
pub(crate) struct Collector {
    port: u16,
    posts: Receiver<Post>,
    /// Status line of the response, or [`Self::NO_RESPONSE`].
    response: Arc<Mutex<&'static str>>,
}

impl Collector {
    pub(crate) const OK: &str = "HTTP/1.1 200 OK";
    pub(crate) const NO_RESPONSE: &str = "";

    pub(crate) fn with_response(response: &'static str) -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").unwrap(), response, None)
    }

    /// Starts a collector over TLS.
    pub(crate) fn secured(config: ServerConfig) -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").unwrap(), Self::OK, Some(Arc::new(config)))
    }

    pub(crate) fn on(listener: TcpListener, response: &'static str, tls: Option<Arc<ServerConfig>>) -> Self {
        let port = listener.local_addr().unwrap().port();
        let (sender, posts) = mpsc::channel();
        let response = Arc::new(Mutex::new(response));
        let responses = Arc::clone(&response);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, sender, responses, tls) =
                    (stream.unwrap(), sender.clone(), Arc::clone(&responses), tls.clone());
                thread::spawn(move || match tls {
                    None => serve(stream, &sender, &responses),
                    Some(config) => {
                        let session = ServerConnection::new(config).unwrap();
                        serve(StreamOwned::new(session, stream), &sender, &responses);
                    }
                });
            }
        });
        Self { port, posts, response }
    }

    /// Returns the value for `--otlp-endpoint`.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Sets the status line of all later responses.
    pub(crate) fn set_response(&self, response: &'static str) {
        *self.response.lock().unwrap() = response;
    }

    /// Waits for the next request.
    pub(crate) fn next(&self) -> Post {
        self.posts.recv_timeout(Duration::from_secs(60)).expect("a request")
    }

    /// Returns the requests received since the last call.
    pub(crate) fn posts(&self) -> Vec<Post> {
        self.posts.try_iter().collect()
    }

    /// Returns the spans of [`Self::posts`], in the order of their ends.
    pub(crate) fn spans(&self) -> Vec<Span> {
        spans(&self.posts())
    }
}

pub(crate) fn spans(posts: &[Post]) -> Vec<Span> {
    let mut spans: Vec<_> = posts.iter().flat_map(|post| post.export().spans).collect();
    spans.sort_by_key(|span| span.end_time_unix_nano);
    spans
}

/// Responds to the requests of a connection until it ends.
fn serve(stream: impl Read + Write, sender: &Sender<Post>, response: &Mutex<&'static str>) {
    let mut stream = BufReader::new(stream);
    while let Some((head, body)) = read_message(&mut stream) {
        // Read before the request is passed on: the test may then set another response.
        let response = *response.lock().unwrap();
        // Ignore the error: the test may have ended.
        let _ = sender.send(Post { head, body });
        if response == Collector::NO_RESPONSE {
            // Waits until the client closes the connection.
            let _ = stream.read(&mut [0]);
            return;
        }
        let written = write!(stream.get_mut(), "{response}\r\nContent-Length: 0\r\n\r\n");
        if written.and_then(|()| stream.get_mut().flush()).is_err() {
            return;
        }
    }
}
