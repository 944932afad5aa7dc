//! One connection, from its accept to its end.

use std::{convert::Infallible, error::Error, net::SocketAddr, pin::Pin, pin::pin, sync::Arc};

use bytes::{Buf, Bytes};
use http::{Request, Response};
use http_body::Body;
use http_body_util::Empty;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::{io::AsyncWriteExt, net::TcpStream, sync::OwnedSemaphorePermit};
use tower_service::Service;

use super::{
    Counts, Limits,
    activity::Activity,
    service,
    stream::WatchedStream,
    watchdog::{Stopping, Watchdog},
};

/// The answer to what hyper refuses without one: the preface of HTTP/2.
const BAD_REQUEST: &[u8] = b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// How many header fields hyper takes unless told otherwise.
const HYPERS_HEADER_FIELDS: usize = 100;

/// Serves `tcp` until one of the sides closes it, or the watchdog does. Then the slot is free for another.
pub(super) async fn run<S, B>(
    tcp: TcpStream,
    peer: SocketAddr,
    service: S,
    limits: Limits,
    counts: Arc<Counts>,
    stopping: Stopping,
    _slot: OwnedSemaphorePermit,
) where
    S: Service<Request<Empty<Bytes>>, Response = Response<B>, Error = Infallible> + Clone + Send,
    S::Future: Send,
    B: Body<Data: Buf + Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + Unpin + 'static,
{
    if let Err(error) = tcp.set_nodelay(true) {
        tracing::debug!(%peer, %error, "cannot switch off the delay of small packets");
    }
    let mut counted = counts.begin();
    let activity = Activity::new(counts.clone());
    let mut watchdog = Watchdog::new(activity.clone(), limits, stopping);
    let stream = WatchedStream::new(tcp, activity.clone(), limits.linger_bytes);
    let service = service::for_connection(service, peer, limits, activity.clone());
    let mut connection = builder(&limits).serve_connection(TokioIo::new(stream), service);

    let outcome = watchdog.guard(|cx| Pin::new(&mut connection).poll(cx)).await;
    let refused = matches!(&outcome, Ok(Err(error)) if error.is_parse());
    counted.ends(match &outcome {
        Ok(Ok(())) => "closed",
        Ok(Err(_)) => "failed",
        Err(reason) => reason,
    });
    if refused {
        counts.note_malformed();
    }
    let farewell = match outcome {
        // hyper has said goodbye itself, except after the preface of HTTP/2, and on a connection where a client has
        // asked for an upgrade: that is left to whoever answered.
        Ok(Ok(())) => !activity.is_closed(),
        Ok(Err(error)) => {
            tracing::debug!(%peer, %error, "a connection failed");
            refused && !activity.is_closed()
        }
        // Bytes of a body may be on their way, and would reset the connection.
        Err(reason) => {
            tracing::debug!(%peer, reason, "closed a connection");
            activity.expects_body() && !activity.is_closed()
        }
    };
    if !farewell {
        return;
    }
    let mut stream = connection.into_parts().io.into_inner();
    let mut farewell = pin!(async {
        if refused {
            stream.write_all(BAD_REQUEST).await?;
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
