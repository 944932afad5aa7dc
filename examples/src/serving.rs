//! Listener, log and shutdown of a server.

use std::io::{self, IsTerminal, Write};
use std::net::SocketAddr;
use std::process;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::sleep;

use crate::Failure;

/// Maximum time for running requests after the signal to stop.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

/// Enables logs on standard error. The catalogue logs the cause of each 500, and never a token.
pub fn log() {
    tracing_subscriber::fmt().with_writer(io::stderr).with_ansi(io::stderr().is_terminal()).init();
}

/// Listens at `address`, and prints a line with the URL to standard output.
///
/// # Errors
/// Returns an error if the address is not available.
pub async fn listen(address: SocketAddr) -> Result<TcpListener, Failure> {
    let listener = TcpListener::bind(address).await;
    let listener = listener.map_err(|error| Failure::new(format!("cannot listen on {address}: {error}")))?;
    let bound = listener.local_addr()?;
    // Ignore the error: standard output may be closed.
    let _ = writeln!(io::stdout(), "listening on http://{bound}");
    Ok(listener)
}

/// Catches SIGTERM and SIGINT from now on. The returned future completes at the first of these signals.
///
/// Frameworks wait even for clients that never complete a request. So the process exits ten seconds after the signal, and
/// requests that still run are lost.
///
/// # Errors
/// Returns an error if the process cannot catch signals.
pub fn stop_signal() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tokio::spawn(async {
            sleep(SHUTDOWN_TIMEOUT).await;
            process::exit(0);
        });
    })
}
