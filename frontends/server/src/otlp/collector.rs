//! [`Collector`]: the program that takes spans, asked over HTTP/1.1.

use std::io;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST, RETRY_AFTER, USER_AGENT};
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::endpoint::Endpoint;
use super::tls;
use crate::exit::{Failure, chain};

/// The longest that a collector is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// The longest answer that is read. What stands in it is not looked at.
const ANSWER: usize = 64 << 10;

/// What takes requests for a connection.
type Connection = SendRequest<Full<Bytes>>;

/// A collector, and the connection to it that was used last.
pub(super) struct Collector {
    endpoint: Endpoint,
    tls: Option<(TlsConnector, ServerName<'static>)>,
    connection: Option<Connection>,
}

/// Why spans were not taken.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) why: String,
    /// They may be taken when they are sent again.
    pub(super) passes: bool,
    /// Not before that time.
    pub(super) pause: Option<Duration>,
}

impl Fault {
    fn passing(why: String) -> Self {
        Self { why, passes: true, pause: None }
    }
}

impl Collector {
    /// The collector that is there. Nothing is asked yet.
    pub(super) fn at(endpoint: &Endpoint) -> Result<Self, Failure> {
        let tls = endpoint.certified.clone().map(|name| Ok::<_, Failure>((tls::connector()?, name))).transpose()?;
        Ok(Self { endpoint: endpoint.clone(), tls, connection: None })
    }

    /// Sends a message, and waits until it is taken.
    pub(super) async fn take(&mut self, message: Bytes) -> Result<(), Fault> {
        let answered = timeout(PATIENCE, self.ask(message)).await;
        answered.unwrap_or_else(|_| Err(Fault::passing(format!("no answer for {PATIENCE:?}"))))
    }

    async fn ask(&mut self, message: Bytes) -> Result<(), Fault> {
        if let Some(kept) = self.connection.take() {
            // It may have been closed meanwhile, which says nothing of the collector.
            if let Ok(answer) = self.exchange(kept, message.clone()).await {
                return answer;
            }
        }
        let fresh = self.connect().await?;
        self.exchange(fresh, message).await.unwrap_or_else(|error| Err(Fault::passing(chain(&error))))
    }

    async fn exchange(&mut self, mut connection: Connection, message: Bytes) -> hyper::Result<Result<(), Fault>> {
        connection.ready().await?;
        let response = connection.send_request(self.request(message)).await?;
        let answer = meaning(response.status(), response.headers());
        // Read to its end, so that the connection can be used again.
        if Limited::new(response.into_body(), ANSWER).collect().await.is_ok() {
            self.connection = Some(connection);
        }
        Ok(answer)
    }

    fn request(&self, message: Bytes) -> Request<Full<Bytes>> {
        Request::post(&*self.endpoint.path)
            .header(HOST, self.endpoint.authority.as_str())
            .header(CONTENT_TYPE, "application/x-protobuf")
            .header(USER_AGENT, concat!("catalogue/", env!("CARGO_PKG_VERSION")))
            .body(Full::new(message))
            .expect("host and path are those of an address")
    }

    async fn connect(&self) -> Result<Connection, Fault> {
        let failed = |error: io::Error| Fault::passing(chain(&error));
        let stream = TcpStream::connect((self.endpoint.host(), self.endpoint.port())).await.map_err(failed)?;
        match &self.tls {
            None => handshake(stream).await,
            Some((connector, name)) => handshake(connector.connect(name.clone(), stream).await.map_err(failed)?).await,
        }
    }
}

async fn handshake(stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) -> Result<Connection, Fault> {
    let (requests, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(|error| Fault::passing(chain(&error)))?;
    // Why it ends is told to who asks.
    tokio::spawn(async { drop(connection.await) });
    Ok(requests)
}

/// What an answer means (OTLP specification 1.0, "OTLP/HTTP Response").
fn meaning(status: StatusCode, headers: &HeaderMap) -> Result<(), Fault> {
    if status.is_success() {
        return Ok(());
    }
    let passes = matches!(status.as_u16(), 429 | 502 | 503 | 504);
    let pause = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    Err(Fault { why: format!("the answer was {status}"), passes, pause: pause.map(Duration::from_secs) })
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn only_what_may_pass_is_asked_again() {
        for (status, passes) in [
            (301, false),
            (400, false),
            (404, false),
            (413, false),
            (429, true),
            (500, false),
            (502, true),
            (503, true),
            (504, true),
        ] {
            let status = StatusCode::from_u16(status).unwrap();
            let fault = meaning(status, &HeaderMap::new()).unwrap_err();
            assert_eq!((fault.passes, fault.pause), (passes, None), "{status}");
            assert!(fault.why.contains(status.as_str()), "{fault:?}");
        }
        assert_eq!(meaning(StatusCode::ACCEPTED, &HeaderMap::new()), Ok(()));
    }

    #[test]
    fn a_collector_may_ask_for_a_pause() {
        for (value, seconds) in [("7", Some(7)), ("-1", None), ("Fri, 20 Nov 2026 15:00:00 GMT", None)] {
            let headers = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_static(value))]);
            let fault = meaning(StatusCode::SERVICE_UNAVAILABLE, &headers).unwrap_err();
            assert_eq!(fault.pause, seconds.map(Duration::from_secs), "{value}");
        }
    }
}
