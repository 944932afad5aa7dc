//! [`Client`]: how the server is reached by HTTP/2 over TLS, and how long a client waits that takes its answers.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use catalogue_benches::Figures;
use h2::client::{Builder, ResponseFuture, SendRequest};
use http::Request;
use http::header::AUTHORIZATION;
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsConnector;

/// What the certificate names.
pub(crate) const HOST: &str = "localhost";
/// From an answer to the next request of the good client.
const PAUSE: Duration = Duration::from_millis(5);
/// After this a request has failed.
const PATIENCE: Duration = Duration::from_secs(20);

type Failure = Box<dyn Error + Send + Sync>;

/// What every client knows of the server.
#[derive(Clone)]
pub(crate) struct Client {
    address: SocketAddr,
    tls: TlsConnector,
    authorization: String,
}

impl Client {
    /// A client that trusts that certificate alone.
    pub(crate) fn new(address: SocketAddr, trusted: &CertificateDer<'_>, token: &str) -> Result<Self, rustls::Error> {
        let mut roots = RootCertStore::empty();
        roots.add(trusted.clone().into_owned())?;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
        let mut config = builder.with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = vec![b"h2".to_vec()];
        Ok(Self { address, tls: Arc::new(config).into(), authorization: format!("Bearer {token}") })
    }

    /// A connection with those settings, and the task that drives it to its end.
    pub(crate) async fn connect(&self, settings: &Builder) -> Result<(SendRequest<Bytes>, JoinHandle<()>), Failure> {
        let stream = TcpStream::connect(self.address).await?;
        stream.set_nodelay(true)?;
        let stream = self.tls.connect(HOST.try_into()?, stream).await?;
        let (sender, connection) = settings.handshake(stream).await?;
        Ok((sender, tokio::spawn(async { drop(connection.await) })))
    }

    /// Asks for a page of that many courses.
    pub(crate) async fn ask(&self, sender: SendRequest<Bytes>, limit: usize) -> Result<ResponseFuture, Failure> {
        let request = Request::get(format!("https://{HOST}/api/v1/courses?limit={limit}"));
        let request = request.header(AUTHORIZATION, &self.authorization).body(())?;
        Ok(sender.ready().await?.send_request(request, true)?.0)
    }

    /// Asks over and over until it is over, which is asked with the number of requests so far. Gives how long answers took
    /// in µs and how many requests got none; after such a one it connects anew.
    pub(crate) async fn latencies(&self, over: &dyn Fn(usize) -> bool) -> (Figures, usize) {
        let (mut micros, mut failed, mut sender) = (Vec::new(), 0, None);
        while !over(micros.len() + failed) {
            let begun = Instant::now();
            match timeout(PATIENCE, self.answered(&mut sender)).await {
                Ok(Ok(())) => micros.push(begun.elapsed().as_secs_f64() * 1e6),
                _ => failed += 1,
            }
            sleep(PAUSE).await;
        }
        (micros.into_iter().collect(), failed)
    }

    /// Asks once, over the connection that there is or a new one, and takes the whole answer.
    async fn answered(&self, kept: &mut Option<SendRequest<Bytes>>) -> Result<(), Failure> {
        let sender = match kept.take() {
            Some(sender) => sender,
            None => self.connect(&Builder::new()).await?.0,
        };
        let response = self.ask(sender.clone(), 50).await?.await?;
        if !response.status().is_success() {
            return Err(response.status().as_str().into());
        }
        let mut body = response.into_body();
        while let Some(data) = body.data().await {
            let length = data?.len();
            body.flow_control().release_capacity(length)?;
        }
        *kept = Some(sender);
        Ok(())
    }
}
