//! [`Server`]: a scripted issuer.

use std::mem::take;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use catalogue_issuer::IssuerUrl;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::sleep;

/// An issuer that records the requested paths.
pub(crate) struct Server {
    /// Base URL, such as `http://127.0.0.1:40123`.
    pub(crate) origin: String,
    paths: Arc<Mutex<Vec<String>>>,
    disconnected: Arc<Semaphore>,
}

impl Server {
    /// Starts a server. `response` gets the server's origin and a path, and returns the whole response, or `None` to hang. After
    /// a response with `Connection: close`, the server closes the connection. Otherwise it sends a space each second until the
    /// client disconnects, so a response without its last bytes never ends, and a client that reuses the connection fails.
    pub(crate) async fn start(response: impl Fn(&str, &str) -> Option<String> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let server = Self { origin: origin.clone(), paths: Arc::default(), disconnected: Arc::new(Semaphore::new(0)) };
        let (paths, disconnected) = (Arc::clone(&server.paths), Arc::clone(&server.disconnected));
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let path = read_request(&mut stream).await;
                let response = response(&origin, &path);
                paths.lock().unwrap().push(path);
                let disconnected = Arc::clone(&disconnected);
                tokio::spawn(async move {
                    respond(stream, response).await;
                    disconnected.add_permits(1);
                });
            }
        });
        server
    }

    pub(crate) fn url(&self) -> IssuerUrl {
        IssuerUrl::parse(&self.origin).unwrap()
    }

    /// Returns the paths that were requested since the last call.
    pub(crate) fn take_paths(&self) -> Vec<String> {
        take(&mut self.paths.lock().unwrap())
    }

    /// Waits until a client has disconnected.
    pub(crate) async fn disconnected(&self) {
        self.disconnected.acquire().await.unwrap().forget();
    }
}

/// Reads a request, which must not accept a content coding. Returns its path.
async fn read_request(stream: &mut TcpStream) -> String {
    let mut request = String::new();
    let is_complete = |request: &str| {
        let end = if request.starts_with("POST ") { "&token_type_hint=access_token" } else { "\r\n\r\n" };
        request.ends_with(end)
    };
    while !is_complete(&request) {
        let mut bytes = [0; 4096];
        let length = stream.read(&mut bytes).await.unwrap();
        assert!(length > 0, "incomplete: {request:?}");
        request += str::from_utf8(&bytes[..length]).unwrap();
    }
    assert!(request.to_ascii_lowercase().contains("\r\naccept-encoding: identity\r\n"), "{request}");
    request.split(' ').nth(1).unwrap().to_owned()
}

async fn respond(mut stream: TcpStream, response: Option<String>) {
    let Some(response) = response else {
        let _ = stream.read(&mut [0]).await;
        return;
    };
    // A client that has read enough disconnects.
    let _ = stream.write_all(response.as_bytes()).await;
    let mut byte = [0];
    while !response.contains("Connection: close") {
        tokio::select! {
            _ = stream.read(&mut byte) => return,
            () = sleep(Duration::from_secs(1)) => {
                let _ = stream.write_all(b" ").await;
            }
        }
    }
}

/// Returns a response. `fields` are lines of the header.
pub(crate) fn response(status: u16, fields: &str, body: &str) -> String {
    format!("HTTP/1.1 {status} A\r\nContent-Length: {}\r\n{fields}\r\n{body}", body.len())
}

pub(crate) fn ok(body: &str) -> String {
    response(200, "", body)
}
