//! A collector that shows what it was sent, and answers as it is told.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::schema::{Export, Span};

/// A request as it was sent.
pub(crate) struct Post {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Post {
    pub(crate) fn export(&self) -> Export {
        Export::read(&self.body)
    }
}

/// Ends with the test.
pub(crate) struct Collector {
    port: u16,
    posts: Receiver<Post>,
    /// The line of the answer's status, or nothing for no answer.
    response: Arc<Mutex<&'static str>>,
}

impl Collector {
    pub(crate) const OK: &str = "HTTP/1.1 200 OK";
    pub(crate) const NO_RESPONSE: &str = "";

    pub(crate) fn answering(response: &'static str) -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").unwrap(), response, None)
    }

    /// One that speaks TLS.
    pub(crate) fn secured(config: ServerConfig) -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").unwrap(), Self::OK, Some(Arc::new(config)))
    }

    pub(crate) fn on(listener: TcpListener, response: &'static str, tls: Option<Arc<ServerConfig>>) -> Self {
        let port = listener.local_addr().unwrap().port();
        let (tell, posts) = mpsc::channel();
        let response = Arc::new(Mutex::new(response));
        let responses = Arc::clone(&response);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, tell, responses, tls) =
                    (stream.unwrap(), tell.clone(), Arc::clone(&responses), tls.clone());
                thread::spawn(move || match tls {
                    None => serve(stream, &tell, &responses),
                    Some(config) => {
                        let session = ServerConnection::new(config).unwrap();
                        serve(StreamOwned::new(session, stream), &tell, &responses);
                    }
                });
            }
        });
        Self { port, posts, response }
    }

    /// What is to be named by `--otlp-endpoint`.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// From now on it answers so.
    pub(crate) fn responses(&self, response: &'static str) {
        *self.response.lock().unwrap() = response;
    }

    /// Waits for the next request.
    pub(crate) fn next(&self) -> Post {
        self.posts.recv_timeout(Duration::from_secs(60)).expect("a request")
    }

    /// All that have come.
    pub(crate) fn posts(&self) -> Vec<Post> {
        self.posts.try_iter().collect()
    }

    /// The spans of all that have come, in the order of their ends.
    pub(crate) fn spans(&self) -> Vec<Span> {
        spans(&self.posts())
    }
}

pub(crate) fn spans(posts: &[Post]) -> Vec<Span> {
    let mut spans: Vec<_> = posts.iter().flat_map(|post| post.export().spans).collect();
    spans.sort_by_key(|span| span.end);
    spans
}

/// Answers the requests of a connection until it ends.
fn serve(stream: impl Read + Write, tell: &Sender<Post>, response: &Mutex<&'static str>) {
    let mut stream = BufReader::new(stream);
    while let Some(post) = read(&mut stream) {
        // First, as the test may ask for another one as soon as it has the request.
        let response = *response.lock().unwrap();
        // The test may be over.
        let _ = tell.send(post);
        if response == Collector::NO_RESPONSE {
            // As long as the other side waits.
            let _ = stream.read(&mut [0]);
            return;
        }
        let answer_count = write!(stream.get_mut(), "{response}\r\nContent-Length: 0\r\n\r\n");
        if answer_count.and_then(|()| stream.get_mut().flush()).is_err() {
            return;
        }
    }
}

fn read(stream: &mut impl BufRead) -> Option<Post> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    stream.read_exact(&mut body).ok()?;
    Some(Post { head, body })
}
