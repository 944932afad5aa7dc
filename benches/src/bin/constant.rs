//! Serves constant responses on the stack that serves the API, for comparison: nothing is looked up or rendered.
//!
//! Each response has its own address; these are printed on standard output, in order.
#![expect(clippy::print_stdout, reason = "a program that says where it listens")]

use std::path::PathBuf;

use catalogue_benches::{Failure, read_answer};
use clap::Parser;
use tokio::net::TcpListener;
use tokio::runtime::Builder;
#[cfg(not(unix))]
use tokio::signal::ctrl_c as asked_to_end;
#[cfg(unix)]
use tokio::signal::unix::{SignalKind, signal};
use warp::Filter;

#[derive(Parser)]
#[command(name = "constant", about = "Serves constant answers on the stack that the API is served on")]
struct Options {
    /// Files with one answer each: status line, header fields, an empty line, the body
    #[arg(value_name = "FILE", required = true)]
    answers: Vec<PathBuf>,
}

/// Waits for SIGTERM. The program then returns from `main`, so that a profiled build writes its counts.
#[cfg(unix)]
async fn asked_to_end() -> std::io::Result<()> {
    signal(SignalKind::terminate())?.recv().await;
    Ok(())
}

fn main() -> Result<(), Failure> {
    let Options { answers } = Options::parse();
    let answers: Vec<_> = answers.iter().map(|path| read_answer(path)).collect::<Result<_, _>>()?;
    Builder::new_multi_thread().enable_all().build()?.block_on(async {
        for answer in answers {
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            println!("listening on http://{}", listener.local_addr()?);
            let filter = warp::any().map(move || answer.clone());
            tokio::spawn(warp::serve(filter).incoming(listener).run());
        }
        Ok(asked_to_end().await?)
    })
}
