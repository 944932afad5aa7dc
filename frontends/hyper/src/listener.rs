//! Takes connections, and stops.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use std::{io, iter, mem};

use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, sleep, timeout_at};

use crate::connection::{self, Accepted, Shared};
use crate::overload::{ConnectionLimiter, LAST_TURN, OutstandingStreams, Registry, shed_streams};
use crate::{ConnectionMetrics, ServerConfig, Tls, TowerService};

/// How long to wait after an accept that failed for want of something, such as file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// How many clients a listen queue can hold. Further ones came after the server was told to stop.
const LONGEST_QUEUE: usize = 65_535;

/// Serves on `listener` until `shutdown` resolves and the connections have ended, at the end of the grace at the latest.
///
/// The service finds the [`ClientAddress`](crate::ClientAddress) of every request in its extensions. Its body is empty unless
/// [`ServerConfig::wants_body`] asks for it. A service that panics ends its own request, with a bare 500 if nothing was sent.
pub async fn serve<S: TowerService>(
    listener: TcpListener,
    service: S,
    config: ServerConfig,
    shutdown: impl Future<Output = ()>,
) {
    let config = Arc::new(ServerConfig { timeouts: config.timeouts.bounded(), ..config });
    let acceptor = config.tls.as_deref().map(Tls::acceptor);
    let registry = Arc::<Registry>::default();
    let mut limiter = ConnectionLimiter::new(config.clone(), registry.clone());
    let streams = Arc::new(OutstandingStreams::new(config.limits.outstanding_streams));
    let shared = Shared { config: config.clone(), streams, shutdown: registry.shutdown.clone() };
    let begin = |permit, client| {
        let (shared, service) = (shared.clone(), service.clone());
        match acceptor.clone() {
            None => drop(tokio::spawn(connection::serve_cleartext(shared, client, permit, service))),
            Some(tls) => drop(tokio::spawn(connection::serve_tls(shared, client, permit, service, tls))),
        }
    };

    let mut shutdown = pin!(shutdown);
    let mut shedding = pin!(shed_streams(&registry, &shared.streams, config.timeouts.reclaim));
    let mut failing = false;
    // Who was accepted, and waits for a permit.
    let mut waiting = None;
    loop {
        let next = async {
            if waiting.is_none() {
                waiting = Some(retried(&mut failing, &config.metrics, || listener.accept()).await);
            }
            limiter.permit().await
        };
        tokio::select! {
            biased;
            () = &mut shutdown => break,
            never = &mut shedding => match never {},
            permit = next => {
                if let Some(client) = waiting.take() {
                    begin(permit, client);
                }
            }
        }
    }

    // Clients in the listen queue may have sent a request. They get the permits of those who go now.
    let left: Vec<_> = waiting.into_iter().chain(queued(listener).take(LONGEST_QUEUE)).collect();
    let deadline = Instant::now() + config.timeouts.grace;
    registry.stop(deadline);
    for client in left {
        let Ok(permit) = timeout_at(deadline, limiter.permit()).await else { break };
        begin(permit, client);
    }
    if timeout_at(deadline + LAST_TURN, limiter.drained()).await.is_err() {
        tracing::warn!("left connections behind whose requests do not yield");
    }
}

/// Accepts until it succeeds. `failing` is whether the accept before has failed, so that the log hears once of many failures.
pub(crate) async fn retried<T, F>(failing: &mut bool, metrics: &ConnectionMetrics, mut accept: impl FnMut() -> F) -> T
where
    F: Future<Output = io::Result<T>>,
{
    let mut is_logged = mem::take(failing);
    loop {
        match accept().await {
            Ok(accepted) => return accepted,
            Err(error) if is_of_client(&error) => tracing::debug!(%error, "a client went away before it was accepted"),
            Err(error) => {
                metrics.accept_failures.add();
                if !mem::replace(&mut is_logged, true) {
                    tracing::warn!(%error, "cannot accept connections; trying again until it succeeds");
                }
                *failing = true;
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Whether the error is about one client and not about the server.
fn is_of_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// The connections in the listen queue, asked of the socket itself: the runtime may not have heard of them yet.
fn queued(listener: TcpListener) -> impl Iterator<Item = Accepted> {
    let accepts = listener.into_std().into_iter().flat_map(|listener| iter::repeat_with(move || listener.accept()));
    accepts.filter(|accept| !accept.as_ref().is_err_and(is_of_client)).map_while(Result::ok).filter_map(
        |(tcp, address)| {
            tcp.set_nonblocking(true).ok()?;
            Some((TcpStream::from_std(tcp).ok()?, address))
        },
    )
}
