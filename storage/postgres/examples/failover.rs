//! Kills a primary under load, promotes its standby, and says how many reads and writes failed, and for how long.
//!
//! `cargo run --release -p catalogue-postgres --example failover`

#[path = "../tests/it/drill.rs"]
mod drill;

use std::time::Instant;

use drill::Pair;
use tokio::task::block_in_place;

#[expect(clippy::print_stdout, reason = "that is what it is for")]
#[tokio::main]
async fn main() {
    for fault in ["the primary is killed and the standby promoted", "the primary stops and the standby is promoted"] {
        let Some(pair) = Pair::start(|options| options).await else { return };
        let load = pair.load().await;
        let began = Instant::now();
        block_in_place(|| match fault.contains("killed") {
            true => pair.first.kill(),
            false => pair.first.control(&["-m", "fast", "stop"]),
        });
        let stopped = began.elapsed();
        drill::control(&pair.second, &["promote"]);
        let promoted = began.elapsed();
        load.goes_on().await;
        let report = load.end(began).await;
        assert_eq!(report.wrong, Vec::<String>::new());
        println!(
            "{fault}: stopped after {:.2} s, promoted after {:.2} s",
            stopped.as_secs_f64(),
            promoted.as_secs_f64()
        );
        println!("{report}");
    }
}
