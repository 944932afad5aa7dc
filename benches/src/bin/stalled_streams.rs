//! Measures the memory that hostile HTTP/2 clients use in the server. Each client requests as many pages over TLS as it may,
//! announces a window of 0, and reads no page. Responses do not share a page, because the page cache is off.
#![expect(clippy::print_stdout, reason = "a program that prints figures")]

use std::error::Error;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use catalogue_benches::{Data, Failure, Program, build, resident_memory};
use clap::Parser;
use h2::client::{Builder, ResponseFuture, SendRequest};
use http::Request;
use http::header::AUTHORIZATION;
use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio::runtime;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

/// Name in the certificate.
const HOST: &str = "localhost";

/// Number of requests per connection: the server's limit.
const STREAMS: usize = 32;

/// Number of courses per page: the API's maximum.
const COURSES: usize = 100;

/// Timeout for the heads of a connection's responses.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Parser)]
#[command(name = "stalled_streams", about = "Measure HTTP/2 clients that never read their responses")]
struct Options {
    /// Number of connections
    #[arg(long, value_name = "N", default_value = "1000", value_parser = clap::value_parser!(u32).range(1..=15_000))]
    connections: u32,
    /// Program to measure [default: build it]
    #[arg(long, value_name = "FILE")]
    server: Option<PathBuf>,
}

fn main() -> Result<(), Failure> {
    let options = Options::parse();
    let catalogue = options.server.map_or_else(|| build("catalogue-server", "catalogue"), Ok)?;
    let data = Data::sqlite(&[COURSES], COURSES)?;
    let key = KeyPair::generate()?;
    let certificate = CertificateParams::new([HOST.to_owned()])?.self_signed(&key)?;
    let chain = data.write_file("chain.pem", certificate.pem().as_bytes())?;
    let secret = data.write_file("key.pem", key.serialize_pem().as_bytes())?;
    let mut serve = Command::new(&catalogue);
    serve.args(["serve", "--listen", "127.0.0.1:0", "--page-cache", "0", "--database", &data.address()]);
    let server = Program::start(serve.args(["--tls-cert", &chain, "--tls-key", &secret]), 1)?;
    let client = Client::new(server.addresses()[0], certificate.der(), data.accounts()[0].token.expose())?;
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let (before, _) = resident_memory(server.id())?;
    // Ignores errors: the connection may have been evicted.
    let held: Vec<HeldStreams> =
        (0..options.connections).filter_map(|_| runtime.block_on(client.hold_streams()).ok()).collect();
    let response_count: usize = held.iter().map(|(_, responses)| responses.len()).sum();
    let (after, most) = resident_memory(server.id())?;
    let kib = |bytes: u64| bytes as f64 / 1024.0;
    let (used_kib, connections) = (kib(after.saturating_sub(before)), f64::from(options.connections));
    println!("{response_count} requests on {} of {connections} connections got a response head.", held.len());
    println!("| before, MiB | after, MiB | maximum, MiB | KiB per connection |\n|--:|--:|--:|--:|");
    let [before, after, most] = [before, after, most].map(|bytes| kib(bytes) / 1024.0);
    println!("| {before:.1} | {after:.1} | {most:.1} | {:.1} |", used_kib / connections);
    Ok(())
}

/// Sender that keeps a connection open, and the responses on it whose heads have arrived.
type HeldStreams = (SendRequest<Bytes>, Vec<http::Response<h2::RecvStream>>);

struct Client {
    address: SocketAddr,
    tls: TlsConnector,
    authorization: String,
}

impl Client {
    /// Creates a client that trusts only the certificate `trusted`.
    fn new(address: SocketAddr, trusted: &CertificateDer<'_>, token: &str) -> Result<Self, rustls::Error> {
        let mut roots = RootCertStore::empty();
        roots.add(trusted.clone().into_owned())?;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
        let mut config = builder.with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = vec![b"h2".to_vec()];
        Ok(Self { address, tls: Arc::new(config).into(), authorization: format!("Bearer {token}") })
    }

    /// Opens a connection and sends the requests. Returns the values to hold.
    async fn hold_streams(&self) -> Result<HeldStreams, Box<dyn Error + Send + Sync>> {
        let stream = TcpStream::connect(self.address).await?;
        let stream = self.tls.connect(HOST.try_into()?, stream).await?;
        let (mut sender, connection) = Builder::new().initial_window_size(0).handshake(stream).await?;
        tokio::spawn(connection);
        let mut requests = Vec::new();
        for _ in 0..STREAMS {
            sender = sender.ready().await?;
            requests.push(self.send_request(&mut sender)?);
        }
        let mut responses = Vec::new();
        for response in requests {
            // Ignores errors: the stream may have been refused.
            if let Ok(Ok(response)) = timeout(RESPONSE_TIMEOUT, response).await {
                responses.push(response);
            }
        }
        Ok((sender, responses))
    }

    fn send_request(&self, sender: &mut SendRequest<Bytes>) -> Result<ResponseFuture, Box<dyn Error + Send + Sync>> {
        let request = Request::get(format!("https://{HOST}/api/v1/courses?limit={COURSES}"));
        let request = request.header(AUTHORIZATION, &self.authorization).body(())?;
        Ok(sender.send_request(request, true)?.0)
    }
}
