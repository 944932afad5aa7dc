//! [`Issuer`]: an issuer in a process that can be stopped and restarted, and servers that accept its tokens.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use serde_json::Value;

use super::packages::packages;
use crate::observed::{Observed, send};
use crate::program::{TestDir, get};
use crate::tools::or_skip_unless;

/// A running issuer. It keeps its keys, in a directory, and its port across restarts.
pub(crate) struct Issuer {
    packages: PathBuf,
    folder: PathBuf,
    child: Child,
    /// Host and port for the tests' own requests, over plain HTTP.
    address: String,
    /// Issuer in the tokens (`iss`).
    pub(crate) name: String,
}

impl Issuer {
    /// Starts an issuer that stores its keys in a directory with courses. Returns `None` if it is not installed and not required.
    pub(crate) fn start() -> Option<(TestDir, Self)> {
        let (packages, dir) = (or_skip_unless("issuer", packages())?, TestDir::with_courses());
        let issuer = Self::run(packages, dir.path(""), "0", None);
        Some((dir, issuer))
    }

    /// Starts an issuer over TLS as `localhost`, with the certificate in `dir`.
    pub(crate) fn start_secured(dir: &TestDir) -> Option<Self> {
        let packages = or_skip_unless("issuer", packages())?;
        let folder = dir.path("");
        Some(Self::run(packages, folder.clone(), "0", Some(&folder)))
    }

    fn run(packages: PathBuf, folder: PathBuf, port: &str, certificate: Option<&Path>) -> Self {
        let mut command = Command::new("node");
        command.arg(packages.join("issuer.mjs")).arg(&folder).arg(port).args(certificate);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let (address, name) = line.trim_end().split_once(' ').unwrap_or_else(|| panic!("{line:?}"));
        Self { address: address.to_owned(), name: name.to_owned(), packages, folder, child }
    }

    pub(crate) fn stop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn start_again(&mut self) {
        let (_, port) = self.address.split_once(':').unwrap();
        *self = Self::run(self.packages.clone(), self.folder.clone(), port, None);
    }

    /// Returns a token from the token endpoint. `query` may contain `alg`, `scope`, `resource`, `format` (`jwt` or `opaque`)
    /// and `lifetime` in seconds.
    pub(crate) fn token(&self, query: &str) -> String {
        self.text(&format!("/test/token?{query}"))
    }

    /// Returns a signed token that the token endpoint would not issue. `query` may contain `kid`, `typ` and `claims`, which
    /// replace values of a valid token.
    pub(crate) fn signed(&self, query: &str) -> String {
        self.text(&format!("/test/sign?{query}"))
    }

    /// Revokes a token at the issuer.
    pub(crate) fn revoke(&self, token: &str) {
        self.text(&format!("/test/revoke?token={token}"));
    }

    /// Publishes only the keys `names`, such as `ES256-1,ES256-2`. The first key of an algorithm signs.
    pub(crate) fn publish(&self, names: &str) {
        self.text(&format!("/test/keys?names={names}"));
    }

    fn text(&self, path: &str) -> String {
        let (status, response) = get(&self.address, path, "");
        assert_eq!(status, 200, "{path}");
        response.as_str().unwrap_or_default().to_owned()
    }
}

impl Drop for Issuer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the options of `serve` for `issuer`.
pub(crate) fn options(issuer: &Issuer) -> String {
    format!("--base-url https://api.example.com/api/v1 --oauth-issuer {} --oauth-account-claim account", issuer.name)
}

/// Starts a server that accepts the issuer's tokens, and waits until it has the keys.
pub(crate) fn serve(dir: &TestDir, issuer: &Issuer) -> Observed {
    let observed = Observed::start(dir, &options(issuer));
    wait_for_fetches(&observed, 1.0);
    observed
}

/// Waits until keys have been fetched `times` times.
pub(crate) fn wait_for_fetches(observed: &Observed, times: f64) {
    observed.wait_for_metric("catalogue_issuer_fetches_total{outcome=\"success\"}", times);
}

pub(crate) fn outcome_count(observed: &Observed, word: &str) -> f64 {
    observed.metrics()[&format!("catalogue_signed_tokens_total{{outcome=\"{word}\"}}")]
}

/// Returns the status of `GET /courses` with `token`.
pub(crate) fn courses(observed: &Observed, token: &str) -> u16 {
    observed.server.get("/api/v1/courses", token).0
}

/// Returns status, challenge and error reason of `GET /courses` with `token`.
pub(crate) fn refusal(observed: &Observed, token: &str) -> (u16, String, Value) {
    let request = format!("GET /api/v1/courses HTTP/1.1\nAuthorization: Bearer {token}");
    let (status, head, body) = send(&observed.server.address, &request);
    let challenge =
        head.lines().find_map(|line| line.strip_prefix("www-authenticate: ")).unwrap_or_default().to_owned();
    let mut body: Value = serde_json::from_str(&body).unwrap();
    (status, challenge, body["error"]["details"]["reason"].take())
}

/// Starts a server that sends `body` in response to each request. Returns its URL.
pub(crate) fn respond_with(body: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            assert!(stream.read(&mut [0; 4096]).unwrap() > 0);
            write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
            // A connection that is closed with an unread rest of the request could lose the response.
            let _ = stream.read_to_end(&mut Vec::new());
        }
    });
    url
}
