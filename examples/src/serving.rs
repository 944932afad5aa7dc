//! Where a server listens, what it logs, and when it stops.

use std::io::{self, IsTerminal, Write};
use std::net::SocketAddr;
use std::process;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::sleep;

use crate::Failure;

/// How long running requests may take after the signal to stop.
const GRACE: Duration = Duration::from_secs(10);

/// Logs to standard error. The catalogue logs why a request was answered 500, and no token.
pub fn log() {
    tracing_subscriber::fmt().with_writer(io::stderr).with_ansi(io::stderr().is_terminal()).init();
}

/// Listens at `address`, and says so in a line on standard output.
///
/// # Errors
/// When the address cannot be had.
pub async fn listen(address: SocketAddr) -> Result<TcpListener, Failure> {
    let listener = TcpListener::bind(address).await;
    let listener = listener.map_err(|error| Failure::new(format!("cannot listen on {address}: {error}")))?;
    let bound = listener.local_addr()?;
    // Whoever has closed standard output does not want to know.
    let _ = writeln!(io::stdout(), "listening on http://{bound}");
    Ok(listener)
}

/// Catches SIGTERM and SIGINT from now on, and ends with the first of them.
///
/// Frameworks wait for clients that never send what they have begun, so ten seconds later the process ends, with what
/// then still runs.
///
/// # Errors
/// When the process cannot catch signals.
pub fn stop_signal() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tokio::spawn(async {
            sleep(GRACE).await;
            process::exit(0);
        });
    })
}
