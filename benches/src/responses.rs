//! Constant responses, which the load generator writes into files for the handlers that it compares with the server.

use std::error::Error;
use std::fs;
use std::path::Path;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Response, StatusCode};

/// Reads a response from a file: status line, header fields, an empty line, the body.
pub fn read_response(path: &Path) -> Result<Response<Bytes>, String> {
    let parse_response = fs::read(path).map_err(Into::into).and_then(|text| parse_response(&text));
    parse_response.map_err(|error| format!("{}: {error}", path.display()))
}

fn parse_response(text: &[u8]) -> Result<Response<Bytes>, Box<dyn Error>> {
    let end = text.windows(4).position(|end| end == b"\r\n\r\n").ok_or("the response head has no end")?;
    let mut lines = str::from_utf8(&text[..end])?.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).ok_or("the response has no status")?;
    let mut response = Response::new(Bytes::copy_from_slice(&text[end + 4..]));
    *response.status_mut() = status.parse::<StatusCode>()?;
    for line in lines {
        let (name, value) = line.split_once(": ").ok_or("a header field has no colon")?;
        response.headers_mut().insert(name.parse::<HeaderName>()?, HeaderValue::from_str(value)?);
    }
    Ok(response)
}
