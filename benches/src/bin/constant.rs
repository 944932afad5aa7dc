//! Serves constant responses by warp's own server, for comparison with the API: nothing is looked up or rendered.
//!
//! Each response has a separate listener; the addresses are printed on standard output, in order.
#![expect(clippy::print_stdout, reason = "a program that prints its address")]

use std::path::PathBuf;

use catalogue_benches::{Failure, read_response};
use clap::Parser;
use tokio::net::TcpListener;
use tokio::runtime::Builder;
#[cfg(not(unix))]
use tokio::signal::ctrl_c as terminated;
#[cfg(unix)]
use tokio::signal::unix::{SignalKind, signal};
use warp::Filter;

#[derive(Parser)]
#[command(name = "constant", about = "Serve constant responses on the same stack as the API")]
struct Options {
    /// Files with one response each: status line, header fields, empty line, body
    #[arg(value_name = "FILE", required = true)]
    responses: Vec<PathBuf>,
}

/// Waits for SIGTERM. The program then returns from `main`, so that a build with profiling writes its profile.
#[cfg(unix)]
async fn terminated() -> std::io::Result<()> {
    signal(SignalKind::terminate())?.recv().await;
    Ok(())
}

fn main() -> Result<(), Failure> {
    let Options { responses } = Options::parse();
    let responses: Vec<_> = responses.iter().map(|path| read_response(path)).collect::<Result<_, _>>()?;
    Builder::new_multi_thread().enable_all().build()?.block_on(async {
        for response in responses {
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            println!("listening on http://{}", listener.local_addr()?);
            let filter = warp::any().map(move || response.clone());
            tokio::spawn(warp::serve(filter).incoming(listener).run());
        }
        Ok(terminated().await?)
    })
}
