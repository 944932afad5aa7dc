//! [`ErrorCode`] and [`ApiError`]: a code for programs, a sentence for people, a cause for the log (section 7).

mod invalid_parameter;

use std::borrow::Cow;
use std::error::Error;

use http::{HeaderValue, StatusCode};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use crate::auth::{Explanation, Refusal};
use crate::limit::Throttled;
use crate::model::{Scope, Scopes};
use crate::storage::StorageError;
pub(crate) use invalid_parameter::{CURSOR, InvalidParameter, LIMIT, Reason};

/// The codes that clients branch on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorCode {
    /// Missing or invalid bearer token.
    Unauthorized,
    /// Valid token without the required scope, or of a kind that is not supported.
    InsufficientScope,
    /// Resource does not exist or belongs to another account.
    NotFound,
    /// Invalid request.
    InvalidRequest,
    /// Rate limit reached.
    RateLimited,
    /// Unexpected server error.
    InternalError,
}

impl ErrorCode {
    /// All codes, in the order of section 7.
    pub const ALL: &'static [Self] = &[
        Self::Unauthorized,
        Self::InsufficientScope,
        Self::NotFound,
        Self::InvalidRequest,
        Self::RateLimited,
        Self::InternalError,
    ];

    /// Returns the code as it appears in `error.code`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.row().0
    }

    /// Returns the status of responses with this code; only a wrong method has another one, 405.
    #[must_use]
    pub const fn status(self) -> StatusCode {
        self.row().1
    }

    /// Returns the meaning of the code (section 7).
    pub(crate) const fn meaning(self) -> &'static str {
        self.row().2
    }

    const fn row(self) -> (&'static str, StatusCode, &'static str) {
        match self {
            Self::Unauthorized => ("unauthorized", StatusCode::UNAUTHORIZED, "Missing or invalid bearer token."),
            Self::InsufficientScope => {
                ("insufficient_scope", StatusCode::FORBIDDEN, "Valid token without the required scope.")
            }
            Self::NotFound => {
                ("not_found", StatusCode::NOT_FOUND, "Resource does not exist or belongs to another account.")
            }
            Self::InvalidRequest => ("invalid_request", StatusCode::BAD_REQUEST, "Invalid request."),
            Self::RateLimited => ("rate_limited", StatusCode::TOO_MANY_REQUESTS, "Rate limit reached."),
            Self::InternalError => ("internal_error", StatusCode::INTERNAL_SERVER_ERROR, "Unexpected server error."),
        }
    }
}

impl JsonSchema for ErrorCode {
    fn schema_name() -> Cow<'static, str> {
        "ErrorCode".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let codes: Vec<_> = Self::ALL.iter().map(|code| code.as_str()).collect();
        json_schema!({ "type": "string", "enum": codes, "description": "Code that clients branch on." })
    }
}

/// Reason why a request gets a failure.
#[derive(Debug)]
pub(crate) enum ApiError {
    /// The path or the course does not exist.
    NotFound,
    /// The path is known, but the method is not among those of decision R5.
    MethodNotAllowed,
    /// The bearer token is missing or was refused (decision A3).
    Unauthorized(Refusal, Option<Explanation>),
    /// This kind of credential may not read courses (decision A5).
    UnsupportedCredential { required: Scope },
    /// The credential lacks the required scope (decision A4).
    InsufficientScope { required: Scope, granted: Scopes },
    /// A parameter is invalid (decisions R7 and R8).
    InvalidParameter(InvalidParameter),
    /// Too many requests, by rate limit or in flight (decisions A2 and A21).
    RateLimited(Throttled),
    /// An internal error (decision A13). The cause is only logged.
    Internal(Box<dyn Error + Send + Sync>),
}

/// `error.details` of a failure.
#[derive(Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub(crate) enum Details<'e> {
    Reason { reason: &'static str },
    Scopes { required: [&'e Scope; 1], granted: &'e Scopes },
    Parameter(&'e InvalidParameter),
    Retry { retry_after_seconds: u32 },
    Request { request_id: &'e str },
}

impl ApiError {
    /// Creates a 401 without an explanation.
    pub(crate) const fn unauthorized(refusal: Refusal) -> Self {
        Self::Unauthorized(refusal, None)
    }

    pub(crate) const fn code(&self) -> ErrorCode {
        match self {
            Self::NotFound => ErrorCode::NotFound,
            Self::MethodNotAllowed | Self::InvalidParameter(_) => ErrorCode::InvalidRequest,
            Self::Unauthorized(..) => ErrorCode::Unauthorized,
            Self::UnsupportedCredential { .. } | Self::InsufficientScope { .. } => ErrorCode::InsufficientScope,
            Self::RateLimited(_) => ErrorCode::RateLimited,
            Self::Internal(_) => ErrorCode::InternalError,
        }
    }

    pub(crate) const fn status(&self) -> StatusCode {
        match self {
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            _ => self.code().status(),
        }
    }

    /// Returns the sentence for people. Its wording is not stable (section 2.6).
    pub(crate) fn message(&self) -> Cow<'static, str> {
        match self {
            Self::NotFound => "Not found, or it belongs to another account.".into(),
            Self::MethodNotAllowed => "Method not allowed. Use GET or HEAD.".into(),
            Self::Unauthorized(Refusal::Missing, _) => {
                "Missing or repeated bearer token. Send exactly one header `Authorization: Bearer <API_KEY>`.".into()
            }
            Self::Unauthorized(Refusal::Invalid, _) => "The bearer token is not valid.".into(),
            Self::Unauthorized(Refusal::Expired, _) => "The bearer token has expired.".into(),
            Self::Unauthorized(Refusal::Revoked, _) => "The bearer token has been revoked.".into(),
            Self::UnsupportedCredential { .. } => "This deployment does not accept this kind of credential.".into(),
            Self::InsufficientScope { required, .. } => format!("Missing required scope `{required}`.").into(),
            Self::InvalidParameter(parameter) => parameter.message(),
            Self::RateLimited(Throttled { retry_after_seconds: 1, .. }) => {
                "Too many requests; try again in a second.".into()
            }
            Self::RateLimited(Throttled { retry_after_seconds, .. }) => {
                format!("Too many requests; try again in {retry_after_seconds} seconds.").into()
            }
            Self::Internal(_) => "Internal server error. If it persists, report the request id.".into(),
        }
    }

    /// Returns the structured detail, whose shape varies by code.
    pub(crate) fn details<'e>(&'e self, request_id: &'e str) -> Option<Details<'e>> {
        Some(match self {
            Self::NotFound | Self::MethodNotAllowed => return None,
            Self::Unauthorized(refusal, _) => Details::Reason { reason: refusal.reason() },
            Self::UnsupportedCredential { .. } => Details::Reason { reason: "unsupported_credential" },
            Self::InsufficientScope { required, granted } => Details::Scopes { required: [required], granted },
            Self::InvalidParameter(parameter) => Details::Parameter(parameter),
            Self::RateLimited(throttled) => Details::Retry { retry_after_seconds: throttled.retry_after_seconds },
            Self::Internal(_) => Details::Request { request_id },
        })
    }

    /// Returns the `WWW-Authenticate` header of a 401 or 403 (RFC 6750 section 3).
    pub(crate) fn challenge(&self) -> Option<HeaderValue> {
        match self {
            Self::Unauthorized(Refusal::Missing, _) => Some(HeaderValue::from_static(r#"Bearer realm="catalogue""#)),
            Self::Unauthorized(_, explanation) => {
                let plain = r#"Bearer realm="catalogue", error="invalid_token""#;
                let described = explanation.and_then(|explanation| explanation.description).and_then(|description| {
                    HeaderValue::try_from(format!(r#"{plain}, error_description="{description}""#)).ok()
                });
                Some(described.unwrap_or(HeaderValue::from_static(plain)))
            }
            Self::UnsupportedCredential { required } | Self::InsufficientScope { required, .. } => {
                let challenge = format!(r#"Bearer error="insufficient_scope", scope="{required}""#);
                Some(HeaderValue::try_from(challenge).expect("scopes of operations are visible ASCII"))
            }
            _ => None,
        }
    }
}

impl From<StorageError> for ApiError {
    /// Hides every storage error behind the same neutral sentence, and never returns a 401 or 404 (decision A19).
    fn from(error: StorageError) -> Self {
        Self::Internal(error.into())
    }
}
