//! Measures what clients of HTTP/2 cost the server that ask for pages over TLS and never take them: each announces a window
//! of 0, so that the server must hold or refuse what it has to say. Meanwhile one client asks as clients do.
#![expect(clippy::print_stdout, reason = "a program that prints figures")]

mod good;
mod stalled;

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, Instant};

use catalogue_benches::{Data, Failure, Program, build, resident_memory};
use clap::Parser;
use rcgen::{CertificateParams, KeyPair};
use tokio::runtime::Builder;

use crate::good::{Client, HOST};
use crate::stalled::Counts;

/// How many courses the account has.
const COURSES: usize = 1_000;

#[derive(Parser)]
#[command(name = "stalled_streams", about = "Measures clients of HTTP/2 that never take their answers")]
struct Options {
    /// How many connections never take an answer
    #[arg(long, value_name = "N", default_value = "1000", value_parser = clap::value_parser!(u32).range(1..=15_000))]
    connections: u32,
    /// How long the good client is measured without the others, and with them once they have asked
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = clap::value_parser!(u64).range(1..=3_600))]
    seconds: u64,
    /// The program to measure, instead of the one that is built from here
    #[arg(long, value_name = "FILE")]
    server: Option<PathBuf>,
}

fn main() -> Result<(), Failure> {
    let options = Options::parse();
    let catalogue = options.server.clone().map_or_else(|| build("catalogue-server", "catalogue"), Ok)?;
    let data = Data::sqlite(&[COURSES], COURSES)?;
    let key = KeyPair::generate()?;
    let certificate = CertificateParams::new([HOST.to_owned()])?.self_signed(&key)?;
    let chain = data.write_beside("chain.pem", certificate.pem().as_bytes())?;
    let secret = data.write_beside("key.pem", key.serialize_pem().as_bytes())?;
    let mut serve = Command::new(&catalogue);
    serve.args(["serve", "--listen", "127.0.0.1:0", "--database", &data.address()]);
    let server = Program::start(serve.args(["--tls-cert", &chain, "--tls-key", &secret]), 1)?;
    let token = data.accounts()[0].token.expose();
    measure(&options, &server, &Client::new(server.addresses()[0], certificate.der(), token)?)
}

fn measure(options: &Options, server: &Program, client: &Client) -> Result<(), Failure> {
    let Options { connections, seconds, .. } = *options;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let measured = |name: &str, over: &dyn Fn(usize) -> bool| {
        let (micros, failed) = runtime.block_on(client.latencies(over));
        let [median, p99] = [micros.median(), micros.quantile(0.99)];
        println!("| {name} | {} | {failed} | {median:.0} | {p99:.0} |", micros.count());
    };
    let for_some_time = |name: &str| {
        let end = Instant::now() + Duration::from_secs(seconds);
        measured(name, &|_| Instant::now() >= end);
    };
    println!("| good client | requests | failed | median µs | p99 µs |\n|---|--:|--:|--:|--:|");
    measured("warming up", &|asked| asked >= 200);
    for_some_time("without the others");
    let (before, _) = resident_memory(server.id())?;

    let counts = Arc::new(Counts::default());
    let (stalled, told) = (client.clone(), Arc::clone(&counts));
    thread::spawn(move || stalled::ask_and_hold(connections, &stalled, &told));
    measured("while they connect and ask", &|_| counts.asked.load(Relaxed) >= connections);
    for_some_time("while they take nothing");
    let (after, most) = resident_memory(server.id())?;
    let [before, after, most] = [before, after, most].map(|bytes| bytes as f64 / f64::from(1 << 20));
    println!("\nThe server has {after:.1} MiB of memory, had {before:.1} before and {most:.1} at most.");
    let [answered, refused, ended] = [&counts.answered, &counts.refused, &counts.ended].map(|n| n.load(Relaxed));
    println!("{answered} streams got the head of an answer, {refused} none; {ended} connections were ended.");
    Ok(())
}
