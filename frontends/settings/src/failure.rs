//! [`Failure`]: why a request fails.

use std::borrow::Cow;

use catalogue_core::storage::{StorageError, StorageErrorKind};
use catalogue_core::{ErrorCode, chain};
use http::{HeaderValue, StatusCode};
use serde_json::{Value, json};

use crate::input::FieldError;

/// Why a request fails, for people and programs alike.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Not a failure: an OPTIONS request for the methods of a path.
    Options(String),
    /// The path does not support the method, but only the listed ones.
    Method(String),
    /// A field is invalid.
    Field(FieldError),
    /// The body is incomplete.
    Body,
    /// The body is too large.
    TooLarge,
    /// The body does not have this media type, which the request requires.
    MediaType(&'static str),
    /// The client is not signed in, for the given reason. The `Set-Cookie` value, if any, removes the session cookie.
    SignedOut(&'static str, Option<HeaderValue>),
    /// The sign-in code is not valid.
    Code,
    /// The request comes from a page of another site.
    CrossSite,
    /// The signed-in user owns no account.
    NoOwner,
    /// The page, key or account does not exist.
    NotFound,
    /// An earlier request with the same nonce has created the key with this id.
    AlreadyExists(String),
    /// The credential is not an API key, has a successor, or has ended.
    NotRotatable,
    /// The account has the maximum number of active keys.
    TooMany,
    /// Too many requests; the client may retry after this number of seconds.
    RateLimited(u32),
    /// The storage failed.
    Storage(StorageError),
}

impl From<StorageError> for Failure {
    fn from(error: StorageError) -> Self {
        Self::Storage(error)
    }
}

impl From<FieldError> for Failure {
    fn from(error: FieldError) -> Self {
        Self::Field(error)
    }
}

impl Failure {
    pub(crate) const fn status(&self) -> StatusCode {
        match self {
            Self::Options(_) => StatusCode::NO_CONTENT,
            Self::Method(_) => StatusCode::METHOD_NOT_ALLOWED,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::MediaType(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::CrossSite | Self::NoOwner => StatusCode::FORBIDDEN,
            Self::AlreadyExists(_) | Self::NotRotatable | Self::TooMany => StatusCode::CONFLICT,
            _ => self.code().status(),
        }
    }

    pub(crate) const fn code(&self) -> ErrorCode {
        match self {
            Self::SignedOut(..) | Self::Code => ErrorCode::Unauthorized,
            Self::NotFound => ErrorCode::NotFound,
            Self::RateLimited(_) => ErrorCode::RateLimited,
            Self::Storage(_) => ErrorCode::InternalError,
            _ => ErrorCode::InvalidRequest,
        }
    }

    /// Returns what happened, and what to do.
    pub(crate) fn sentence(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Options(_) => "",
            Self::Method(allow) => return format!("Method not allowed. Use {allow}.").into(),
            Self::Field(FieldError { parameter, .. }) if parameter == "nonce" => {
                "nonce: Send a UUIDv7 of the last 24 hours as 32 hexadecimal digits, or omit it."
            }
            Self::Field(error) => return format!("{}: {}", error.parameter, error.sentence()).into(),
            Self::Body => "The request was incomplete. Nothing has changed. Send it again.",
            Self::TooLarge => "The request is larger than 16 KiB. Send less.",
            Self::MediaType(expected) => return format!("Send the body as {expected}.").into(),
            Self::SignedOut("expired", _) => "Your session has expired. Sign in again.",
            Self::SignedOut("revoked", _) => "Your session was ended. Sign in again.",
            Self::SignedOut(..) => "Sign in first.",
            Self::Code => "This code is invalid, expired or already used. Request a new one.",
            Self::CrossSite => {
                "The request was refused, because it came from another site. Open the settings directly."
            }
            Self::NoOwner => "There is no account for your sign-in. Contact the operator of this service.",
            Self::NotFound => "There is no such page or key in your account.",
            Self::AlreadyExists(_) => {
                "This key already exists, and its token was shown when it was created. If you do not have it, rotate the key."
            }
            Self::NotRotatable => "This key has been rotated or revoked, or has expired.",
            Self::TooMany => "You already have 100 active keys. Revoke one first.",
            Self::RateLimited(seconds) => return format!("Too many requests. Try again in {seconds} s.").into(),
            Self::Storage(error) if error.kind() == StorageErrorKind::OutcomeUnknown => {
                "The change may or may not have been saved. Check before you retry."
            }
            Self::Storage(error) if error.kind() == StorageErrorKind::Busy => {
                "Another program is writing to the database; an import may be running. Nothing has changed. Try again in a minute."
            }
            Self::Storage(error) if error.kind() == StorageErrorKind::Unavailable => {
                "The database is unavailable. Nothing has changed. Try again in a minute."
            }
            Self::Storage(_) => "Internal server error. Nothing has changed.",
        })
    }

    /// Returns the failure's `details` as JSON.
    pub(crate) fn details(&self, request_id: &str) -> Option<Value> {
        Some(match self {
            Self::Field(FieldError { parameter, reason }) => json!({ "parameter": parameter, "reason": reason }),
            Self::SignedOut(reason, _) => json!({ "reason": reason }),
            Self::CrossSite => json!({ "reason": "cross_site" }),
            Self::NoOwner => json!({ "reason": "no_owner" }),
            Self::AlreadyExists(_) => json!({ "reason": "already_exists" }),
            Self::NotRotatable => json!({ "reason": "not_rotatable" }),
            Self::TooMany => json!({ "reason": "too_many" }),
            Self::RateLimited(seconds) => json!({ "retryAfterSeconds": seconds }),
            Self::Storage(_) => json!({ "requestId": request_id }),
            _ => return None,
        })
    }

    /// Logs a storage's failure with its whole cause chain, or a missing owner at the level `debug`, but no other failure.
    pub(crate) fn log(&self, request_id: &str) {
        match self {
            Self::Storage(error) => {
                tracing::error!(request_id, error = chain(error), "a developer settings request failed");
            }
            Self::NoOwner => tracing::debug!(request_id, "no account for the signed-in user"),
            _ => {}
        }
    }
}
