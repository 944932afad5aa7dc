//! Response headers, as the documents describe them.

use crate::request_id::MAX_REQUEST_ID_LENGTH;

const RETRY_AFTER: &str = "Retry-After";

/// Description of one header.
#[derive(Debug)]
pub(super) struct HeaderFact {
    pub(super) name: &'static str,
    /// Whether every response that is described with it has it.
    pub(super) always: bool,
    /// Whether its value is an integer; otherwise it is text.
    pub(super) is_number: bool,
    pub(super) description: String,
}

/// Returns every header that the documents describe.
pub(super) fn all() -> [HeaderFact; 10] {
    let request_id = format!(
        "The id of this request: the caller's own when it is 1 to {MAX_REQUEST_ID_LENGTH} visible ASCII characters, else a new one."
    );
    let facts = [
        ("ETag", true, "Weak tag of this answer. Send it in `If-None-Match` to be answered 304 if nothing changed."),
        ("Cache-Control", true, "An answer is asked for again before each use; a failure is not stored."),
        ("Vary", true, "The request headers that the answer depends on."),
        ("Link", false, "The address of the next page; there exactly when `meta.nextCursor` is a string."),
        ("Allow", true, "The methods of this address."),
        ("WWW-Authenticate", true, "What the credential lacks, as RFC 6750 writes it."),
        (RETRY_AFTER, true, "Seconds to wait before the next request."),
        (
            "RateLimit-Policy",
            false,
            "The limit, as revision 10 of the IETF draft on rate limit headers writes it. Absent while none is set.",
        ),
        ("RateLimit", false, "What is left of the limit, as the same draft writes it. Absent while none is set."),
        ("X-Request-Id", true, &request_id),
    ];
    facts.map(|(name, always, description)| HeaderFact {
        name,
        always,
        is_number: name == RETRY_AFTER,
        description: description.to_owned(),
    })
}
