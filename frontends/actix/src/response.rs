//! Answers of ours become answers of actix-web by their bytes.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use actix_web::HttpResponse;
use actix_web::body::{self, BodySize, BoxBody, MessageBody};
use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderName, HeaderValue};
use bytes::Bytes;
use http::Response;
use http::header::CONTENT_LENGTH;

/// The same answer.
pub(crate) fn convert(response: Response<Bytes>) -> HttpResponse {
    let (head, bytes) = response.into_parts();
    let status = StatusCode::from_u16(head.status.as_u16()).expect("the versions agree on statuses");
    let mut converted = HttpResponse::new(status);
    for (name, value) in &head.headers {
        let name = HeaderName::from_bytes(name.as_str().as_bytes()).expect("the versions agree on names");
        let value = HeaderValue::from_bytes(value.as_bytes()).expect("the versions agree on values");
        converted.headers_mut().append(name, value);
    }
    let length = head.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    let body = match length {
        _ if !bytes.is_empty() => BoxBody::new(bytes),
        Some(length) => BoxBody::new(LeftOut { length }),
        None => BoxBody::new(body::None::new()),
    };
    converted.set_body(body)
}

/// The body that an answer to HEAD leaves out: actix-web writes the length that the body names, and not the header.
struct LeftOut {
    length: u64,
}

impl MessageBody for LeftOut {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        BodySize::Sized(self.length)
    }

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Bytes, Infallible>>> {
        Poll::Ready(None)
    }
}
