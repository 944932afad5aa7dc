//! Reads a request's body, up to a limit.

use std::future::poll_fn;
use std::pin::pin;

use bytes::Buf as _;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use http_body::Body;

use crate::failure::Failure;

const MAX_BODY_BYTES: usize = 16 << 10;

pub(crate) const FORM: &str = "application/x-www-form-urlencoded";
pub(crate) const JSON: &str = "application/json";

/// Returns the whole body, which must be of the type `media_type`.
pub(crate) async fn read<B: Body>(headers: &HeaderMap, body: B, media_type: &'static str) -> Result<Vec<u8>, Failure> {
    if !is_of_type(headers, media_type) {
        return Err(Failure::MediaType(media_type));
    }
    let mut body = pin!(body);
    let mut bytes = Vec::new();
    while let Some(frame) = poll_fn(|context| body.as_mut().poll_frame(context)).await {
        let Ok(mut data) = frame.map_err(|_| Failure::Body)?.into_data() else { continue };
        if bytes.len() + data.remaining() > MAX_BODY_BYTES {
            return Err(Failure::TooLarge);
        }
        while data.has_remaining() {
            let chunk = data.chunk();
            bytes.extend_from_slice(chunk);
            data.advance(chunk.len());
        }
    }
    Ok(bytes)
}

/// Returns whether the body's declared type is `media_type`, ignoring parameters.
pub(crate) fn is_of_type(headers: &HeaderMap, media_type: &str) -> bool {
    let mut values = headers.get_all(CONTENT_TYPE).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return false };
    let essence = value.to_str().unwrap_or_default().split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case(media_type)
}
