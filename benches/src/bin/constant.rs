//! Serves constant answers on the stack that the API is served on, for comparison: nothing is looked up or rendered.
//!
//! Each answer gets an address of its own, named on standard output in their order.
#![expect(clippy::print_stdout, reason = "a program that says where it listens")]

use std::path::PathBuf;

use catalogue_benches::{Failure, read_answer};
use clap::Parser;
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
    let answers: Vec<_> = Options::parse().answers.iter().map(|path| read_answer(path)).collect::<Result<_, _>>()?;
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
