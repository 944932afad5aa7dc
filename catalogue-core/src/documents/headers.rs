//! The headers of answers, as the documents describe them.

use crate::request_id::MAX_LENGTH;

/// What the documents say of one header.
#[derive(Debug)]
pub(super) struct HeaderFact {
    /// The name as it is usually written.
    pub(super) name: &'static str,
    /// Whether every answer that may have it has it.
    pub(super) always: bool,
    /// Whether its value is a whole number; else it is a text.
    pub(super) is_number: bool,
    pub(super) description: String,
}

/// Every header that the documents describe.
pub(super) fn all() -> [HeaderFact; 10] {
    let text = |name, always, description: &str| HeaderFact {
        name,
        always,
        is_number: false,
        description: description.to_owned(),
    };
    [
        text(
            "ETag",
            true,
            "Weak tag of this answer. Send it in `If-None-Match` to be answered 304 if nothing changed.",
        ),
        text("Cache-Control", true, "An answer is asked for again before each use; a failure is not stored."),
        text("Vary", true, "The request headers that the answer depends on."),
        text("Link", false, "The address of the next page; there exactly when `meta.nextCursor` is a string."),
        text("Allow", true, "The methods of this address."),
        text("WWW-Authenticate", true, "What the credential lacks, as RFC 6750 writes it."),
        HeaderFact {
            name: "Retry-After",
            always: true,
            is_number: true,
            description: "Seconds to wait before the next request.".to_owned(),
        },
        text(
            "RateLimit-Policy",
            false,
            "The limit, as revision 10 of the IETF draft on rate limit headers writes it. Absent while none is set.",
        ),
        text("RateLimit", false, "What is left of the limit, as the same draft writes it. Absent while none is set."),
        text(
            "X-Request-Id",
            true,
            &format!(
                "The id of this request: the caller's own when it is 1 to {MAX_LENGTH} visible ASCII characters, else \
                 a new one."
            ),
        ),
    ]
}
