//! One connection, from its accept to its end.

use std::{convert::Infallible, error::Error, pin::Pin, pin::pin, sync::Arc};

use bytes::{Buf, Bytes};
use http::{Request, Response};
use http_body::Body;
use http_body_util::Empty;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::{io::AsyncWriteExt, net::TcpStream};
use tokio_rustls::TlsAcceptor;
use tower_service::Service;

use super::{
    Counts, Limits,
    activity::Activity,
    client::Client,
    counts::Counted,
    crowd::Place,
    http2, service,
    socket::Socket,
    stream::{Transport, WatchedStream},
    tls::Secured,
    watchdog::{LONG_LINE, Stopping, Watchdog},
};

/// The answer to what hyper refuses without one: the preface of HTTP/2.
const BAD_REQUEST: &[u8] = b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// The answer to a request line that is longer than any head may be. hyper would take it for fields that are too large.
const URI_TOO_LONG: &[u8] = b"HTTP/1.1 414 URI Too Long\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// How many header fields hyper takes unless told otherwise.
const HYPERS_HEADER_FIELDS: usize = 100;

/// A client that was accepted.
pub(super) struct Guest {
    pub(super) tcp: TcpStream,
    pub(super) client: Client,
    pub(super) limits: Limits,
    pub(super) counts: Arc<Counts>,
    pub(super) stopping: Stopping,
    /// Free for another when the connection has ended.
    pub(super) place: Place,
}

/// What goes with a connection's bytes from its accept to its end.
pub(super) struct Escort {
    pub(super) client: Client,
    pub(super) limits: Limits,
    pub(super) activity: Arc<Activity>,
    pub(super) watchdog: Watchdog,
    pub(super) place: Place,
    pub(super) counted: Counted,
}

impl Guest {
    fn escorted(self, activity: Arc<Activity>) -> (TcpStream, Escort) {
        let Self { tcp, client, limits, counts, stopping, place } = self;
        if let Err(error) = tcp.set_nodelay(true) {
            tracing::debug!(peer = %client.peer, %error, "cannot switch off the delay of small packets");
        }
        place.take(&activity);
        let watchdog = Watchdog::new(activity.clone(), limits, stopping);
        (tcp, Escort { client, limits, activity, watchdog, place, counted: counts.begin() })
    }
}

/// Serves HTTP/1 until one of the sides closes the connection, or the watchdog does.
pub(super) async fn in_cleartext<S, B>(guest: Guest, service: S)
where
    S: Service<Request<Empty<Bytes>>, Response = Response<B>, Error = Infallible> + Clone + Send,
    S::Future: Send,
    B: Body<Data: Buf + Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + Unpin + 'static,
{
    let activity = Activity::new(guest.counts.clone());
    let (tcp, escort) = guest.escorted(activity);
    let socket = Socket::new(tcp, escort.activity.clone(), escort.limits.linger_bytes);
    serve_http1(socket, escort, service).await;
}

/// Shakes hands, and serves what the client has chosen.
pub(super) async fn over_tls<S, B>(guest: Guest, acceptor: TlsAcceptor, service: S)
where
    S: Service<Request<Empty<Bytes>>, Response = Response<B>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send + 'static,
    B: Body<Data: Buf + Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + Unpin + 'static,
{
    let activity = Activity::with_handshake(guest.counts.clone());
    let (tcp, mut escort) = guest.escorted(activity);
    let socket = Socket::beneath_tls(tcp, escort.activity.clone(), escort.limits.linger_bytes);
    // In a box, for it is large and soon over.
    let mut handshake = Box::pin(acceptor.accept(socket));
    let outcome = escort.watchdog.guard(|cx| handshake.as_mut().poll(cx)).await;
    drop(handshake);
    let secured = match outcome {
        Ok(Ok(stream)) => Secured(stream),
        Ok(Err(error)) => {
            escort.counted.ends("handshake failed");
            tracing::debug!(peer = %escort.client.peer, %error, "a TLS handshake failed");
            return;
        }
        Err(reason) => {
            escort.counted.ends(reason);
            tracing::debug!(peer = %escort.client.peer, reason, "closed a connection");
            return;
        }
    };
    let is_http2 = secured.is_http2();
    escort.activity.shook_hands(is_http2.then(|| escort.place.backlog()));
    if is_http2 {
        http2::serve(secured, escort, service).await;
    } else {
        serve_http1(secured, escort, service).await;
    }
}

/// Serves HTTP/1.
async fn serve_http1<T, S, B>(transport: T, escort: Escort, service: S)
where
    T: Transport,
    S: Service<Request<Empty<Bytes>>, Response = Response<B>, Error = Infallible> + Clone + Send,
    S::Future: Send,
    B: Body<Data: Buf + Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + Unpin + 'static,
{
    let Escort { client, limits, activity, mut watchdog, place: _place, mut counted } = escort;
    let (peer, secured) = (client.peer, client.secured);
    let stream = WatchedStream::new(transport, activity.clone(), limits.head_bytes);
    let service = service::for_connection(service, client, limits, activity.clone());
    let mut connection = builder(&limits).serve_connection(TokioIo::new(stream), service);

    let outcome = watchdog
        .guard(|cx| {
            activity.begin_turn();
            Pin::new(&mut connection).poll(cx)
        })
        .await;
    let refusal = match &outcome {
        Ok(Err(error)) if error.is_parse() => Some(BAD_REQUEST),
        Err(LONG_LINE) => Some(URI_TOO_LONG),
        _ => None,
    };
    counted.ends(match &outcome {
        Ok(Ok(())) => "closed",
        Ok(Err(_)) | Err(LONG_LINE) => "failed",
        Err(reason) => reason,
    });
    if refusal.is_some() {
        activity.counts().note_malformed();
    }
    let farewell = match outcome {
        // hyper has said goodbye itself, except after the preface of HTTP/2, and on a connection where a client has
        // asked for an upgrade: that is left to whoever answered.
        Ok(Ok(())) => !activity.is_closed(),
        Ok(Err(error)) => {
            tracing::debug!(%peer, %error, "a connection failed");
            refusal.is_some() && !activity.is_closed()
        }
        // Bytes of a body may be on their way, and would reset the connection. TLS has its own end.
        Err(reason) => {
            tracing::debug!(%peer, reason, "closed a connection");
            (refusal.is_some() || activity.expects_body() || secured) && !activity.is_closed()
        }
    };
    if !farewell {
        return;
    }
    let mut stream = connection.into_parts().io.into_inner();
    if refusal.is_none() && !activity.expects_body() {
        stream.socket().linger_at_most(0);
    }
    let mut farewell = pin!(async {
        if let Some(refusal) = refusal {
            stream.write_all(refusal).await?;
        }
        stream.shutdown().await
    });
    let _ = watchdog.guard(|cx| farewell.as_mut().poll(cx)).await;
}

/// hyper without its timer, which cannot tell a slow head from an idle connection.
fn builder(limits: &Limits) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .half_close(true)
        .header_read_timeout(None)
        .max_header_size(limits.head_bytes)
        .max_buf_size(limits.head_bytes.max(8 * 1024));
    // hyper has room for its own number on the stack, and asks the allocator where one is named.
    if limits.header_fields != HYPERS_HEADER_FIELDS {
        builder.max_headers(limits.header_fields);
    }
    builder
}
