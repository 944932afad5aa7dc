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
use crate::developer_settings::SettingsService;
use crate::exit::Failure;
pub(super) use crate::open_files::available_connections;
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

/// Converts an inherited listener. Returns it with its address.
pub(super) fn adopt(listener: &std::net::TcpListener) -> io::Result<(TcpListener, SocketAddr)> {
    let listener = listener.try_clone()?;
    listener.set_nonblocking(true)?;
    let bound = listener.local_addr()?;
    Ok((TcpListener::from_std(listener)?, bound))
}

/// Returns the failure to bind `address`, which `setting` names.
pub(super) fn cannot_listen(setting: &Setting, address: SocketAddr, error: &io::Error) -> Failure {
    let hint = match error.kind() {
        io::ErrorKind::AddrInUse => format!("; stop the program that uses it, or choose another --{}", setting.name),
        io::ErrorKind::AddrNotAvailable => "; use an address of this machine".to_owned(),
        io::ErrorKind::PermissionDenied => "; ports below 1024 are reserved; choose a higher one".to_owned(),
        _ => String::new(),
    };
    Failure::work(format!("cannot listen on {address}: {error}{hint}"))
}

/// Returns the address at which this machine reaches a listener: loopback for a listener on all addresses.
pub(super) fn reachable_address(listening: SocketAddr) -> SocketAddr {
    let ip = match listening.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listening.port())
}

/// Serves until SIGTERM or SIGINT, and then until running requests end, their grace period ends, or another signal
/// comes. Calls `on_ready` after the line on standard output that contains the address.
pub(super) async fn serve(
    (listener, address): (TcpListener, SocketAddr),
    (catalogue, settings): (Catalogue, Option<SettingsService>),
    mut config: ServerConfig,
    mut signals: Signals,
    monitor: &Monitor,
    on_ready: impl FnOnce(),
) -> Result<(), Failure> {
    let requested = config.limits.connections;
    let available = available_connections(requested);
    if available < requested {
        tracing::warn!(available, requested, "open-file limit too low for all connections; raise it (ulimit -n)");
    }
    config.limits.connections = available;
    let scheme = if config.tls.is_some() { "https" } else { "http" };
    if let Some(tls) = &config.tls {
        tracing::info!(expires = tls.expires(), "loaded the certificate");
        let _ = monitor.metrics.tls.set(Arc::clone(tls));
    }
    let settings = settings.map(Arc::new);
    let grace = config.timeouts.grace;
    config.metrics = Arc::clone(&monitor.metrics.connections);
    monitor.set_serving(catalogue.clone(), config.limits.connections);
    // Clients that connect from now on are served. Ignore the error: a supervisor may have closed standard output.
    let listening = format!("listening on {scheme}://{address}");
    let _ = output::print(&listening);
    systemd::ready(&listening);
    on_ready();
    let (request_stop, stop_requested) = oneshot::channel();
    let second_signal = async {
        signals.next().await;
        monitor.set_stopping();
        tracing::info!(?grace, "stopping");
        systemd::stopping();
        let _ = request_stop.send(());
        signals.next().await;
    };
    let shutdown = async { drop(stop_requested.await) };
    let service = RoutingService { api: warp::service(catalogue_warp::filter(catalogue)), settings };
    tokio::select! {
        () = catalogue_hyper::serve(listener, service, config, shutdown) => {}
        () = systemd::keep_alive() => {}
        () = second_signal => return Err(Failure::work("second signal received; in-flight requests aborted")),
    }
    tracing::info!("stopped");
    Ok(())
}

/// Serves the API as a warp filter, and the developer settings below their URL. The program serves warp's filter, not
/// the catalogue itself, because host applications with warp mount that filter: its defects show here first.
#[derive(Clone, Debug)]
struct RoutingService<S> {
    api: S,
    settings: Option<Arc<SettingsService>>,
}

impl<S, R> Service<Request<RequestBody>> for RoutingService<S>
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
            Some(settings) if settings.is_mounted_at(request.uri().path()) => {
                let settings = Arc::clone(settings);
                Box::pin(async move { Ok(settings.respond(request).await.map(R::from)) })
            }
            // `attach_head` passes the request as a whole, so that warp does not copy its headers.
            _ => Box::pin(self.api.call(catalogue_warp::attach_head(request))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unspecified_address_is_reachable_on_loopback() {
        for (listening, expected) in [
            ("0.0.0.0:8080", "127.0.0.1:8080"),
            ("[::]:443", "[::1]:443"),
            ("127.0.0.1:1", "127.0.0.1:1"),
            ("192.0.2.1:80", "192.0.2.1:80"),
            ("[2001:db8::1]:80", "[2001:db8::1]:80"),
        ] {
            assert_eq!(reachable_address(listening.parse().unwrap()).to_string(), expected);
        }
    }
}
