//! What `serve` and `demo` share: binding an address, and serving until a signal ends it.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use catalogue_core::Catalogue;
use tokio::net::TcpListener;
#[cfg(unix)]
use tokio::signal::unix::{self, SignalKind};
use tokio::sync::oneshot;

use crate::admin::Monitor;
use crate::api::Api;
use crate::config::Setting;
use crate::exit::Failure;
use crate::http::{self, Front};
use crate::{open_files, output, systemd};

/// A listener, and the address that it got.
pub(super) async fn bind(address: SocketAddr) -> io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(address).await?;
    let bound = listener.local_addr()?;
    Ok((listener, bound))
}

/// A listener that was opened before, and its address.
pub(super) fn adopt(listener: &std::net::TcpListener) -> io::Result<(TcpListener, SocketAddr)> {
    let listener = listener.try_clone()?;
    listener.set_nonblocking(true)?;
    let bound = listener.local_addr()?;
    Ok((TcpListener::from_std(listener)?, bound))
}

/// Says why an address of that setting cannot be had.
pub(super) fn cannot_listen(setting: Setting, address: SocketAddr, error: &io::Error) -> Failure {
    let hint = match error.kind() {
        io::ErrorKind::AddrInUse => format!("; end the program that has it, or name another --{}", setting.name()),
        io::ErrorKind::AddrNotAvailable => "; this machine has no such address".to_owned(),
        io::ErrorKind::PermissionDenied => "; ports below 1024 are reserved, so name a higher one".to_owned(),
        _ => String::new(),
    };
    Failure::work(format!("cannot listen on {address}: {error}{hint}"))
}

/// Serves until SIGTERM or SIGINT comes and running requests have had their grace, or until another one cuts it short.
/// `announced` is called once the line on standard output says where.
pub(super) async fn serve(
    (listener, address): (TcpListener, SocketAddr),
    catalogue: Catalogue,
    mut front: Front,
    mut signals: Signals,
    monitor: &Monitor,
    announced: impl FnOnce(),
) -> Result<(), Failure> {
    front.limits.connections = open_files::room_for_connections(front.limits.connections);
    let scheme = if front.tls.is_some() { "https" } else { "http" };
    if let Some(tls) = &front.tls {
        tracing::info!(expires = tls.expires(), "read the certificate");
        monitor.metrics.secures(Arc::clone(tls));
    }
    let grace = front.limits.shutdown_grace;
    front.counts = monitor.metrics.connections();
    monitor.serves(catalogue.clone(), front.limits.connections);
    // From here on clients are in the listener's queue, and are answered. A supervisor may have closed standard output.
    let listening = format!("listening on {scheme}://{address}");
    let _ = output::print(&listening);
    systemd::ready(&listening);
    announced();
    let (tell, told) = oneshot::channel();
    let told_twice = async {
        signals.next().await;
        monitor.stops();
        tracing::info!(?grace, "stopping");
        systemd::stopping();
        let _ = tell.send(());
        signals.next().await;
    };
    let told_once = async { drop(told.await) };
    let api = Api(warp::service(catalogue_warp::filter(catalogue)));
    tokio::select! {
        () = http::serve(listener, api, front, told_once) => {}
        () = systemd::keep_alive() => {}
        () = told_twice => return Err(Failure::work("told to end a second time; running requests were cut off")),
    }
    tracing::info!("stopped");
    Ok(())
}

/// SIGTERM and SIGINT, which from now on do not end the process by themselves.
#[cfg(unix)]
pub(super) struct Signals {
    terminate: unix::Signal,
    interrupt: unix::Signal,
}

#[cfg(unix)]
impl Signals {
    /// To be called before anything slow: a signal that comes meanwhile is kept, and nothing is left half done.
    pub(super) fn catch() -> Result<Self, Failure> {
        Ok(Self { terminate: caught(SignalKind::terminate())?, interrupt: caught(SignalKind::interrupt())? })
    }

    /// Waits for a signal.
    pub(super) async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

#[cfg(unix)]
fn caught(kind: SignalKind) -> Result<unix::Signal, Failure> {
    unix::signal(kind).map_err(|error| Failure::work(format!("cannot wait for signals: {error}")))
}

/// Ctrl+C.
#[cfg(not(unix))]
pub(super) struct Signals;

#[cfg(not(unix))]
impl Signals {
    /// Nothing is to be done beforehand.
    pub(super) fn catch() -> Result<Self, Failure> {
        Ok(Self)
    }

    /// Waits for a signal.
    pub(super) async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
