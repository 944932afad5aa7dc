//! HTTP/2 with prior knowledge, by hyper's client.

use std::net::SocketAddr;

use http::header::CONTENT_LENGTH;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;

use super::ExchangeError;
use crate::response::Response;
use crate::test_request::{HOST, TestRequest};

/// Sends a request, and reads its whole response.
pub(crate) async fn exchange(address: SocketAddr, request: &TestRequest) -> Result<Response, ExchangeError> {
    let stream = TokioIo::new(TcpStream::connect(address).await?);
    let (mut sender, connection) = http2::handshake(TokioExecutor::new(), stream).await?;
    let connection = tokio::spawn(connection);
    let mut request = request.to_http(&format!("http://{HOST}")).map(|()| Full::new(request.body.clone()));
    // hyper sets this header itself.
    request.headers_mut().remove(CONTENT_LENGTH);
    let (head, body) = sender.send_request(request).await?.into_parts();
    let body = body.collect().await?.to_bytes();
    drop(sender);
    connection.await??;
    Ok(http::Response::from_parts(head, body).into())
}
