//! Response headers, as the documents describe them.

use crate::request_id::MAX_REQUEST_ID_LENGTH;

const RETRY_AFTER: &str = "Retry-After";

/// Description of one header.
#[derive(Debug)]
pub(super) struct HeaderFact {
    pub(super) name: &'static str,
    /// Whether the header is in every response whose description lists it.
    pub(super) always: bool,
    /// Whether the value is an integer; otherwise it is text.
    pub(super) is_number: bool,
    pub(super) description: String,
}

/// Returns every header that the documents describe.
pub(super) fn all() -> [HeaderFact; 10] {
    let request_id = format!(
        "Id of this request: the client's if that is 1 to {MAX_REQUEST_ID_LENGTH} visible ASCII characters, otherwise a new one."
    );
    let facts = [
        ("ETag", true, "Weak entity tag. Send it in `If-None-Match` to get a 304 while this response is unchanged."),
        ("Cache-Control", true, "Successful responses must be revalidated before reuse; errors must not be stored."),
        ("Vary", true, "Request headers that the response depends on."),
        ("Link", false, "URL of the next page. Present if and only if `meta.nextCursor` is a string."),
        ("Allow", true, "Methods that this path supports."),
        ("WWW-Authenticate", true, "Challenge in RFC 6750 format."),
        (RETRY_AFTER, true, "Seconds to wait before the next request."),
        (
            "RateLimit-Policy",
            false,
            "The limit, as defined in revision 10 of the IETF draft on rate limit headers. Absent if there is none.",
        ),
        ("RateLimit", false, "The remaining limit, as defined in the same draft. Absent if there is none."),
        ("X-Request-Id", true, &request_id),
    ];
    facts.map(|(name, always, description)| HeaderFact {
        name,
        always,
        is_number: name == RETRY_AFTER,
        description: description.to_owned(),
    })
}
