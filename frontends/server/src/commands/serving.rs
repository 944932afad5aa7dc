//! What `serve` and `demo` share: an address to listen on, and serving until a signal ends it.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use catalogue_core::Catalogue;
use tokio::net::TcpListener;

use crate::config::{Layers, Setting, Sourced};
use crate::exit::Failure;
use crate::http::{self, Limits};
use crate::output;

/// Where a server listens unless `--listen` says otherwise.
pub(super) const DEFAULT_ADDRESS: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8080);

/// The address that the layers name, if they do.
pub(super) fn listen_address(layers: &Layers, given: Option<String>) -> Result<Option<SocketAddr>, Failure> {
    let parse = |text: &String| {
        text.parse().map_err(|_| {
            format!("{text:?} is not an address to listen on; write an IP address and a port, like 127.0.0.1:8080")
        })
    };
    layers.text(Setting::Listen, given)?.map(|text: Sourced<String>| text.parse(parse)).transpose()
}

/// A listener, and the address that it got.
pub(super) async fn bind(address: SocketAddr) -> io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(address).await?;
    let bound = listener.local_addr()?;
    Ok((listener, bound))
}

/// Says why an address cannot be had.
pub(super) fn cannot_listen(address: SocketAddr, error: &io::Error) -> Failure {
    let hint = match error.kind() {
        io::ErrorKind::AddrInUse => "; end the program that has it, or name another --listen",
        io::ErrorKind::AddrNotAvailable => "; this machine has no such address",
        io::ErrorKind::PermissionDenied => "; ports below 1024 are reserved, so name a higher one",
        _ => "",
    };
    Failure::work(format!("cannot listen on {address}: {error}{hint}"))
}

/// Serves until SIGTERM or SIGINT comes and running requests have had their grace. `announced` is called once the
/// line on standard output says where.
pub(super) async fn serve(
    (listener, address): (TcpListener, SocketAddr),
    catalogue: Catalogue,
    grace: Option<Duration>,
    announced: impl FnOnce(),
) -> Result<(), Failure> {
    let told_to_end = told_to_end().map_err(|error| Failure::work(format!("cannot wait for signals: {error}")))?;
    let mut limits = Limits::default();
    if let Some(grace) = grace {
        limits.shutdown_grace = grace;
    }
    // From here on clients are in the listener's queue, and are answered. A supervisor may have closed standard output.
    let _ = output::print(&format!("listening on http://{address}"));
    announced();
    http::serve(listener, warp::service(catalogue_warp::filter(catalogue)), limits, told_to_end).await;
    Ok(())
}

/// Ends when the process is told to.
#[cfg(unix)]
fn told_to_end() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};

    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

/// Ends when the process is told to.
#[cfg(not(unix))]
fn told_to_end() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}
