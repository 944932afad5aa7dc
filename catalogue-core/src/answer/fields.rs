//! [`of_answer`]: the header fields of an answer to an operation.
//!
//! They are copied with a place for what is an answer's own, which takes less than to insert them one by one.

use std::sync::LazyLock;

use http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG, LINK, VARY};
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::answer::coding::Coding;
use crate::answer::entity::{Entity, Form};
use crate::request_id::X_REQUEST_ID;

pub(crate) const X_CONTENT_TYPE_OPTIONS: HeaderName = HeaderName::from_static("x-content-type-options");
pub(crate) const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");

/// For the caller alone (decision A14).
pub(crate) const PRIVATE: HeaderValue = HeaderValue::from_static("private, no-cache");
pub(crate) const VARY_OF_ANSWERS: HeaderValue = HeaderValue::from_static("Authorization, Accept-Encoding");

/// Those of a plain answer without a `Link`, of one with it, and of compressed ones likewise.
static USUAL: LazyLock<[HeaderMap; 4]> = LazyLock::new(|| {
    let place = HeaderValue::from_static("");
    let plain: HeaderMap = [
        (CONTENT_TYPE, place.clone()),
        (CONTENT_LENGTH, place.clone()),
        (ETAG, place.clone()),
        (VARY, VARY_OF_ANSWERS),
        (CACHE_CONTROL, PRIVATE),
        (X_CONTENT_TYPE_OPTIONS, NOSNIFF),
        (X_REQUEST_ID, place.clone()),
    ]
    .into_iter()
    .collect();
    let and = |fields: &HeaderMap, name| {
        let mut fields = fields.clone();
        fields.insert(name, place.clone());
        fields
    };
    let linked = and(&plain, LINK);
    let (compressed, both) = (and(&plain, CONTENT_ENCODING), and(&linked, CONTENT_ENCODING));
    [plain, linked, compressed, both]
});

/// The fields of an answer with that form of its bytes, all but the request's id, which still is empty.
pub(crate) fn of_answer(entity: &Entity, form: &Form, coding: Option<Coding>) -> HeaderMap {
    let mut fields = USUAL[usize::from(entity.link.is_some()) + 2 * usize::from(coding.is_some())].clone();
    for (name, value) in &mut fields {
        if *name == CONTENT_TYPE {
            *value = entity.media_type.clone();
        } else if *name == CONTENT_LENGTH {
            *value = form.length.clone();
        } else if *name == ETAG {
            *value = entity.etag.header();
        } else if let Some(link) = entity.link.as_ref().filter(|_| *name == LINK) {
            *value = link.clone();
        } else if let Some(coding) = coding.filter(|_| *name == CONTENT_ENCODING) {
            *value = HeaderValue::from_static(coding.name());
        }
    }
    fields
}
