//! Serves constant answers on the stack that the API is served on, for comparison: nothing is looked up or rendered.
//!
//! Each argument is a file with one answer: status line, header fields, an empty line, the body. Each gets an address of
//! its own, named on standard output in their order.
#![expect(clippy::print_stdout, reason = "a program that says where it listens")]

use std::error::Error;
use std::fs;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Response, StatusCode};
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use warp::Filter;

fn main() -> Result<(), Box<dyn Error>> {
    let answers: Vec<_> = std::env::args_os().skip(1).map(|path| answer(&fs::read(path)?)).collect::<Result<_, _>>()?;
    Builder::new_multi_thread().enable_all().build()?.block_on(async {
        let mut servers = Vec::new();
        for answer in answers {
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            println!("listening on http://{}", listener.local_addr()?);
            let filter = warp::any().map(move || answer.clone());
            servers.push(tokio::spawn(warp::serve(filter).incoming(listener).run()));
        }
        for server in servers {
            server.await?;
        }
        Ok(())
    })
}

fn answer(text: &[u8]) -> Result<Response<Bytes>, Box<dyn Error>> {
    let end = text.windows(4).position(|end| end == b"\r\n\r\n").ok_or("an answer without an end of its head")?;
    let mut lines = str::from_utf8(&text[..end])?.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).ok_or("an answer without a status")?;
    let mut response = Response::new(Bytes::copy_from_slice(&text[end + 4..]));
    *response.status_mut() = status.parse::<StatusCode>()?;
    for line in lines {
        let (name, value) = line.split_once(": ").ok_or("a header field without a colon")?;
        response.headers_mut().insert(name.parse::<HeaderName>()?, HeaderValue::from_str(value)?);
    }
    Ok(response)
}
