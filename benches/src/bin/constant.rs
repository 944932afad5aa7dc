//! Serves constant answers on the stack that the API is served on, for comparison: nothing is looked up or rendered.
//!
//! Each answer gets an address of its own, named on standard output in their order.
#![expect(clippy::print_stdout, reason = "a program that says where it listens")]

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use bytes::Bytes;
use catalogue_benches::Failure;
use clap::Parser;
use http::{HeaderName, HeaderValue, Response, StatusCode};
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use warp::Filter;

#[derive(Parser)]
#[command(name = "constant", about = "Serves constant answers on the stack that the API is served on")]
struct Options {
    /// Files with one answer each: status line, header fields, an empty line, the body
    #[arg(value_name = "FILE", required = true)]
    answers: Vec<PathBuf>,
}

fn main() -> Result<(), Failure> {
    let read = |path: PathBuf| {
        let answer = fs::read(&path).map_err(Into::into).and_then(|text| answer(&text));
        answer.map_err(|error| format!("{}: {error}", path.display()))
    };
    let answers: Vec<_> = Options::parse().answers.into_iter().map(read).collect::<Result<_, _>>()?;
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
