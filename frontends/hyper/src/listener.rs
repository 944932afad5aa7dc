//! Accepts connections, and shuts down.

use std::pin::pin;
use std::time::Duration;
use std::{io, iter, mem};

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::connection::{self, Accepted};
use crate::registry::{Registry, SEARCH_INTERVAL};
use crate::{ConnectionMetrics, ServerConfig, Tls, TowerService};

/// Delay after a failed accept, such as for lack of file descriptors. Errors of single clients are retried immediately.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(200);

/// Timeout for a task to notice that its connection must end.
const FINAL_POLL_TIMEOUT: Duration = Duration::from_secs(1);

/// Maximum number of clients taken from the listen queue at shutdown, in case new ones connect as fast as they are taken.
const MAX_BACKLOG: usize = 65_535;

/// Serves on `listener` until `shutdown` resolves and the connections have ended, at the latest after the grace period.
///
/// The extensions of every request contain its [`ClientAddress`](crate::ClientAddress) and
/// [`PeerAddress`](crate::PeerAddress). If the service panics, the request gets a bare 500, or its response breaks off. If
/// the service ignores a body, an HTTP/1 connection closes after the response, unless the whole body has arrived.
pub async fn serve<S: TowerService>(
    listener: TcpListener,
    service: S,
    config: ServerConfig,
    shutdown: impl Future<Output = ()>,
) {
    let registry = Registry::new(config.clamped());
    let acceptor = registry.config.tls.as_deref().map(Tls::acceptor);
    // Dropping the set ends its connections, so the server leaves none behind.
    let mut connections = JoinSet::new();
    let begin = |connections: &mut JoinSet<()>, client| {
        let (registry, service) = (registry.clone(), service.clone());
        match acceptor.clone() {
            None => connections.spawn(connection::serve_cleartext(registry, client, service)),
            Some(tls) => connections.spawn(connection::serve_tls(registry, client, service, tls)),
        };
    };

    let mut shutdown = pin!(shutdown);
    let mut failing = false;
    // An accepted client that waits for another connection to end.
    let mut waiting = None;
    loop {
        let next = async {
            while waiting.is_none() {
                tokio::select! {
                    accepted = accept_with_retry(&mut failing, &registry.config.metrics, || listener.accept()) => {
                        waiting = Some(accepted);
                    }
                    Some(_) = connections.join_next() => {}
                }
            }
            make_room(&mut connections, &registry).await;
        };
        tokio::select! {
            biased;
            () = &mut shutdown => break,
            () = next => waiting.take().into_iter().for_each(|client| begin(&mut connections, client)),
        }
    }

    // Clients in the listen queue may have sent a request. They get the slots that become free now.
    let backlog: Vec<_> = waiting.into_iter().chain(drain_backlog(listener).take(MAX_BACKLOG)).collect();
    let shutdown_deadline = Instant::now() + registry.config.timeouts.grace;
    registry.stop(shutdown_deadline);
    let finish = async {
        for client in backlog {
            make_room(&mut connections, &registry).await;
            begin(&mut connections, client);
        }
        while connections.join_next().await.is_some() {}
    };
    if timeout_at(shutdown_deadline + FINAL_POLL_TIMEOUT, finish).await.is_err() {
        tracing::warn!("shutdown finished with open connections: their requests did not yield");
    }
}

/// Waits until the limit allows another connection, and evicts idle ones for it.
async fn make_room(connections: &mut JoinSet<()>, registry: &Registry) {
    while connections.try_join_next().is_some() {}
    while connections.len() >= registry.config.limits.connections as usize {
        let pause = if registry.evict_one() { FINAL_POLL_TIMEOUT } else { SEARCH_INTERVAL };
        let _ = timeout(pause, connections.join_next()).await;
    }
}

/// Accepts, and retries after errors. `failing` is whether the previous call had errors: a series of them is logged once.
pub(crate) async fn accept_with_retry<T, F>(
    failing: &mut bool,
    metrics: &ConnectionMetrics,
    mut accept: impl FnMut() -> F,
) -> T
where
    F: Future<Output = io::Result<T>>,
{
    let mut is_logged = mem::take(failing);
    loop {
        match accept().await {
            Ok(accepted) => return accepted,
            Err(error) if is_client_error(&error) => {
                tracing::debug!(%error, "a client disconnected before it was accepted");
            }
            Err(error) => {
                metrics.accept_failures.add();
                if !mem::replace(&mut is_logged, true) {
                    tracing::warn!(%error, "cannot accept connections; retrying");
                }
                *failing = true;
                sleep(ACCEPT_RETRY_DELAY).await;
            }
        }
    }
}

/// Returns whether the error concerns one client, not the server.
fn is_client_error(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// Returns the clients in the listen queue. Accepts on the socket itself: the runtime may not know of them yet.
fn drain_backlog(listener: TcpListener) -> impl Iterator<Item = Accepted> {
    let accepts = listener.into_std().into_iter().flat_map(|listener| iter::repeat_with(move || listener.accept()));
    accepts.filter(|accept| !accept.as_ref().is_err_and(is_client_error)).map_while(Result::ok).filter_map(
        |(tcp, address)| {
            tcp.set_nonblocking(true).ok()?;
            Some((TcpStream::from_std(tcp).ok()?, address))
        },
    )
}
