//! HTTP/1, byte by byte: client libraries would correct what the cases test.

use std::io::ErrorKind;
use std::net::SocketAddr;

use bytes::Bytes;
use http::Version;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::ExchangeError;
use crate::response::Response;
use crate::test_request::{HOST, TestRequest};

/// Sends a request, and reads until the server closes the connection.
pub(crate) async fn exchange(address: SocketAddr, request: &TestRequest) -> Result<Response, ExchangeError> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(&serialize(request)).await?;
    let mut bytes = Vec::new();
    let mut is_body_pending = request.sends_body_after_response;
    while let 1.. = read(&mut stream, &mut bytes).await? {
        if is_body_pending && parse(&bytes).is_ok_and(|response| is_complete(&response)) {
            is_body_pending = false;
            // Ignored: the server may have closed the connection already, as it need not read the body.
            let _ = stream.write_all(&request.body).await;
        }
    }
    parse(&bytes)
}

/// Returns whether a response with a length has a body of that length.
fn is_complete(response: &Response) -> bool {
    response.headers.get("content-length").is_some_and(|values| values[0] == response.body.len().to_string().as_bytes())
}

/// Reads bytes. Treats a reset after the response as its end: the server may not have read the whole body.
async fn read(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> Result<usize, ExchangeError> {
    match stream.read_buf(bytes).await {
        Err(error) if error.kind() == ErrorKind::ConnectionReset && !bytes.is_empty() => Ok(0),
        outcome => Ok(outcome?),
    }
}

fn serialize(request: &TestRequest) -> Vec<u8> {
    let (method, target, version) = (request.method, &request.target, request.version);
    let mut bytes = format!("{method} {target} {version:?}\r\n").into_bytes();
    if version == Version::HTTP_11 {
        bytes.extend_from_slice(format!("Host: {HOST}\r\nConnection: close\r\n").as_bytes());
    }
    for (name, value) in &request.headers {
        bytes.extend_from_slice(name.as_bytes());
        bytes.extend_from_slice(b": ");
        bytes.extend_from_slice(value);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"\r\n");
    if !request.sends_body_after_response {
        bytes.extend_from_slice(&request.body);
    }
    bytes
}

/// Parses a response. All bytes after the head are the body: the core's responses have a length, so none is encoded.
fn parse(bytes: &[u8]) -> Result<Response, ExchangeError> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").ok_or("the head is incomplete")?;
    let head = &bytes[..end];
    let mut lines = head.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let first = str::from_utf8(lines.next().unwrap_or_default())?;
    let status = first.strip_prefix("HTTP/1.").and_then(|rest| rest.split(' ').nth(1)).ok_or("no status line")?;
    let body = Bytes::copy_from_slice(&bytes[end + 4..]);
    let mut response = Response { status: status.parse()?, headers: Default::default(), body };
    for line in lines {
        let colon = line.iter().position(|&byte| byte == b':').ok_or("a header has no colon")?;
        response.push(str::from_utf8(&line[..colon])?, line[colon + 1..].trim_ascii());
    }
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_preserves_head_and_body() {
        let response = parse(b"HTTP/1.1 200 OK\r\nVary: a\r\nvary:\tb \r\nX: \xff\r\n\r\nof a\r\n\r\nHEAD").unwrap();
        assert_eq!(response.status, 200);
        assert_eq!(response.headers["vary"], [b"a", b"b"]);
        assert_eq!(response.headers["x"], [b"\xff"]);
        assert_eq!(response.body, "of a\r\n\r\nHEAD");
    }

    #[test]
    fn malformed_response_is_an_error() {
        for bytes in
            ["", "HTTP/1.1 200 OK\r\n", "200 OK\r\n\r\n", "HTTP/1.1 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nx\r\n\r\n"]
        {
            assert!(parse(bytes.as_bytes()).is_err(), "{bytes:?}");
        }
    }
}
