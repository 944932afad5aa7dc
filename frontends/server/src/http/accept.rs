//! Takes connections, and stops.

use std::{convert::Infallible, error::Error, io, iter, net::SocketAddr, pin::pin, sync::Arc, time::Duration};

use bytes::{Buf, Bytes};
use http::{Request, Response};
use http_body::Body;
use http_body_util::Empty;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    time::{Instant, sleep, timeout_at},
};
use tower_service::Service;

use super::{
    Counts, Limits, Networks, Tls,
    client::Client,
    connection::{self, Guest},
    crowd::{Crowd, Place},
};

/// How long to wait after an accept that failed for want of something, such as file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// The longest grace. A longer one could not be added to a time.
const LONGEST_GRACE: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// What tasks get to notice that the grace has ended.
const LAST_TURN: Duration = Duration::from_secs(1);

/// How many clients a listen queue can hold. Further ones came after the server was told to stop.
const LONGEST_QUEUE: usize = 65_535;

/// How connections are served.
#[derive(Clone, Debug, Default)]
pub(crate) struct Front {
    /// What each may cost.
    pub(crate) limits: Limits,
    /// HTTPS, or cleartext without it.
    pub(crate) tls: Option<Arc<Tls>>,
    /// The proxies whose word on the client's address is taken.
    pub(crate) proxies: Networks,
    /// Where connections are counted.
    pub(crate) counts: Arc<Counts>,
}

/// Serves on `listener` until `shutdown` resolves and the connections have ended, by themselves or by the end of the
/// grace.
///
/// The service sees no body, and the [`ClientAddress`](catalogue_core::ClientAddress) of every request in its extensions.
/// It may panic: that is answered with a bare 500.
pub(crate) async fn serve<S, B>(listener: TcpListener, service: S, front: Front, shutdown: impl Future<Output = ()>)
where
    S: Service<Request<Empty<Bytes>>, Response = Response<B>, Error = Infallible>,
    S: Clone + Send + 'static,
    S::Future: Send + 'static,
    B: Body<Data: Buf + Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + Unpin + 'static,
{
    let Front { limits, tls, proxies, counts } = front;
    let acceptor = tls.as_deref().map(Tls::acceptor);
    let mut crowd = Crowd::new(&limits);
    let (stop, stopping) = watch::channel(None);
    let begin = |service: S, place: Place, (tcp, peer): (TcpStream, SocketAddr)| {
        let client = Client { peer, secured: acceptor.is_some(), proxies: proxies.clone() };
        let guest = Guest { tcp, client, limits, counts: counts.clone(), stopping: stopping.clone(), place };
        match &acceptor {
            None => drop(tokio::spawn(connection::in_cleartext(guest, service))),
            Some(acceptor) => drop(tokio::spawn(connection::over_tls(guest, acceptor.clone(), service))),
        }
    };

    let mut shutdown = pin!(shutdown);
    let mut relief = pin!(crowd.relief());
    let mut failing = false;
    // Who was accepted, and waits for a place.
    let mut waiting = None;
    loop {
        let next = async {
            if waiting.is_none() {
                waiting = Some(retried(&mut failing, &counts, || listener.accept()).await);
            }
            crowd.place().await
        };
        tokio::select! {
            biased;
            () = &mut shutdown => break,
            never = &mut relief => match never {},
            place = next => {
                if let Some(client) = waiting.take() {
                    begin(service.clone(), place, client);
                }
            }
        }
    }

    // Clients in the listen queue have a connection already, perhaps with a request in it. They get the places of those
    // who go now; nobody else is accepted meanwhile.
    let left: Vec<_> = waiting.into_iter().chain(queued(listener).take(LONGEST_QUEUE)).collect();
    let deadline = Instant::now() + limits.shutdown_grace.min(LONGEST_GRACE);
    stop.send_replace(Some(deadline));
    for client in left {
        let Ok(place) = timeout_at(deadline, crowd.place()).await else { break };
        begin(service.clone(), place, client);
    }
    if timeout_at(deadline + LAST_TURN, crowd.gone()).await.is_err() {
        tracing::warn!("left connections behind whose requests do not yield");
    }
}

/// Accepts until it succeeds: whatever fails here, the next client can do nothing for it.
///
/// `failing` tells whether the accept before this one has failed at first: the log hears of the first failure of many.
pub(super) async fn retried<T, F>(failing: &mut bool, counts: &Counts, mut accept: impl FnMut() -> F) -> T
where
    F: Future<Output = io::Result<T>>,
{
    let mut at_once = true;
    loop {
        match accept().await {
            Ok(accepted) => {
                *failing = !at_once;
                return accepted;
            }
            Err(error) if gone(&error) => tracing::debug!(%error, "a client went away before it was accepted"),
            Err(error) => {
                counts.note_accept_failure();
                if !*failing {
                    tracing::warn!(%error, "cannot accept connections; trying again until it succeeds");
                }
                (*failing, at_once) = (true, false);
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Whether the error is about one client and not about the server.
fn gone(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// The connections in the listen queue, asked of the socket itself: the runtime may not have heard of them yet.
fn queued(listener: TcpListener) -> impl Iterator<Item = (TcpStream, SocketAddr)> {
    let listener = listener.into_std().ok();
    iter::from_fn(move || {
        let (tcp, peer) = listener.as_ref()?.accept().ok()?;
        tcp.set_nonblocking(true).ok()?;
        Some((TcpStream::from_std(tcp).ok()?, peer))
    })
}
