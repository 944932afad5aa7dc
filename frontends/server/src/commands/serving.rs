//! Binding addresses, and serving until a signal, for `serve` and `demo`.

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use catalogue_core::Catalogue;
use catalogue_hyper::{RequestBody, ServerConfig};
use http::{Request, Response};
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::oneshot;
use tower_service::Service;

use super::signals::Signals;
use crate::admin::Monitor;
use crate::developer_settings::DeveloperPages;
use crate::exit::Failure;
pub(super) use crate::open_files::room_for_connections;
use crate::settings::Setting;
use crate::{output, systemd};

/// Maximum number of connections that wait to be accepted; a full server accepts as many in a few seconds. The kernel
/// lowers it to `net.core.somaxconn` and drops further connections, so that their clients retry after a second.
const BACKLOG: u32 = 4096;

/// Binds `address`. Returns a listener and the address that it got.
pub(super) fn bind(address: SocketAddr) -> io::Result<(TcpListener, SocketAddr)> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // Allows binding the port of a server that has just ended.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    let listener = socket.listen(BACKLOG)?;
    let bound = listener.local_addr()?;
    Ok((listener, bound))
}

/// Converts a listener that was opened before. Returns it with its address.
pub(super) fn adopt(listener: &std::net::TcpListener) -> io::Result<(TcpListener, SocketAddr)> {
    let listener = listener.try_clone()?;
    listener.set_nonblocking(true)?;
    let bound = listener.local_addr()?;
    Ok((TcpListener::from_std(listener)?, bound))
}

/// Returns the failure to bind `address`, which `setting` names.
pub(super) fn cannot_listen(setting: &Setting, address: SocketAddr, error: &io::Error) -> Failure {
    let hint = match error.kind() {
        io::ErrorKind::AddrInUse => format!("; end the program that has it, or name another --{}", setting.name),
        io::ErrorKind::AddrNotAvailable => "; this machine has no such address".to_owned(),
        io::ErrorKind::PermissionDenied => "; ports below 1024 are reserved, so name a higher one".to_owned(),
        _ => String::new(),
    };
    Failure::work(format!("cannot listen on {address}: {error}{hint}"))
}

/// Returns the address at which this machine reaches a listener: loopback for one on all addresses.
pub(super) fn reached(listening: SocketAddr) -> SocketAddr {
    let ip = match listening.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listening.port())
}

/// Serves until SIGTERM or SIGINT, and then until running requests end, their grace period ends, or another signal
/// comes. Calls `announced` after the line on standard output that contains the address.
pub(super) async fn serve(
    (listener, address): (TcpListener, SocketAddr),
    (catalogue, settings): (Catalogue, Option<DeveloperPages>),
    mut config: ServerConfig,
    mut signals: Signals,
    monitor: &Monitor,
    announced: impl FnOnce(),
) -> Result<(), Failure> {
    let wanted = config.limits.connections;
    let room = room_for_connections(wanted);
    if room < wanted {
        tracing::warn!("the limit of open files leaves room for {room} connections; raise it (ulimit -n) for {wanted}");
    }
    config.limits.connections = room;
    let scheme = if config.tls.is_some() { "https" } else { "http" };
    if let Some(tls) = &config.tls {
        tracing::info!(expires = tls.expires(), "read the certificate");
        let _ = monitor.metrics.tls.set(Arc::clone(tls));
    }
    let settings = settings.map(Arc::new);
    let grace = config.timeouts.grace;
    config.metrics = Arc::clone(&monitor.metrics.connections);
    monitor.serves(catalogue.clone(), config.limits.connections);
    // Clients that connect from now on are served. Ignore the error: a supervisor may have closed standard output.
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
    let served = Served { api: warp::service(catalogue_warp::filter(catalogue)), settings };
    tokio::select! {
        () = catalogue_hyper::serve(listener, served, config, told_once) => {}
        () = systemd::keep_alive() => {}
        () = told_twice => return Err(Failure::work("second signal received; in-flight requests aborted")),
    }
    tracing::info!("stopped");
    Ok(())
}

/// Serves the API as a warp filter, and the developer settings below their URL. The program serves warp's filter, not
/// the catalogue itself, because host applications with warp mount that filter: its defects show here first.
#[derive(Clone, Debug)]
struct Served<S> {
    api: S,
    settings: Option<Arc<DeveloperPages>>,
}

impl<S, R> Service<Request<RequestBody>> for Served<S>
where
    S: Service<Request<RequestBody>, Response = Response<R>, Error = Infallible, Future: Send + 'static>,
    R: From<Bytes>,
{
    type Response = Response<R>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<R>, Infallible>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.api.poll_ready(cx)
    }

    fn call(&mut self, request: Request<RequestBody>) -> Self::Future {
        match &self.settings {
            Some(settings) if settings.have(request.uri().path()) => {
                let settings = Arc::clone(settings);
                Box::pin(async move { Ok(settings.answer(request).await.map(R::from)) })
            }
            // `hand_over` passes the request as a whole, so that warp does not copy its headers.
            _ => Box::pin(self.api.call(catalogue_warp::hand_over(request))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_address_is_also_that_of_this_machine() {
        for (listening, expected) in [
            ("0.0.0.0:8080", "127.0.0.1:8080"),
            ("[::]:443", "[::1]:443"),
            ("127.0.0.1:1", "127.0.0.1:1"),
            ("192.0.2.1:80", "192.0.2.1:80"),
            ("[2001:db8::1]:80", "[2001:db8::1]:80"),
        ] {
            assert_eq!(reached(listening.parse().unwrap()).to_string(), expected);
        }
    }
}
