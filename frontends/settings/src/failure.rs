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
    /// The path does not support the method; it supports these.
    Method(String),
    /// A field is invalid.
    Field(FieldError),
    /// The body is incomplete.
    Body,
    /// The body is too large.
    TooLarge,
    /// The body is not of this type, which is required.
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
    /// The form was sent before, and has created the key with this id.
    AlreadyExists(String),
    /// The key has a successor or has ended.
    NotRotatable,
    /// The account has the maximum number of valid keys.
    TooMany,
    /// Too many requests; the client may retry after these seconds.
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
            Self::Method(allow) => return format!("This address accepts only {allow}.").into(),
            Self::Field(FieldError { parameter, .. }) if parameter == "nonce" => {
                "nonce: Send a UUIDv7 of the last 24 hours as 32 hexadecimal digits, or leave it out."
            }
            Self::Field(error) => return format!("{}: {}", error.parameter, error.sentence()).into(),
            Self::Body => "The request broke off before its end. Nothing has changed. Send it again.",
            Self::TooLarge => "The request has more than 16 KiB. Send less.",
            Self::MediaType(right) => return format!("Send the body as {right}.").into(),
            Self::SignedOut("expired", _) => "The session is over. Sign in again.",
            Self::SignedOut("revoked", _) => "The session was ended. Sign in again.",
            Self::SignedOut(..) => "Sign in first.",
            Self::Code => "This code does not work. It may be used up or too old. Ask for another.",
            Self::CrossSite => {
                "The request comes from another site, so nothing was done. Open the settings themselves."
            }
            Self::NoOwner => "Your sign-in has no account here. Ask whoever runs this service for one.",
            Self::NotFound => "There is nothing here, or it is not yours.",
            Self::AlreadyExists(_) => {
                "This key was made already, and its token shown then. If you do not have it, rotate the key."
            }
            Self::NotRotatable => "It was rotated, revoked or has expired meanwhile.",
            Self::TooMany => "You already have 100 valid keys. Revoke one first.",
            Self::RateLimited(seconds) => return format!("Too many requests. Try again in {seconds} s.").into(),
            Self::Storage(error) if error.kind() == StorageErrorKind::OutcomeUnknown => {
                "It is not known whether the change was made. Look before you repeat it."
            }
            Self::Storage(error) if error.kind() == StorageErrorKind::Busy => {
                "Another program is writing to the database; an import may be running. Nothing has changed. Try again in a minute."
            }
            Self::Storage(error) if error.kind() == StorageErrorKind::Unavailable => {
                "The database cannot be used now. Nothing has changed. Try again in a minute."
            }
            Self::Storage(_) => "The server failed. Nothing has changed.",
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

    /// Logs a failure of the server, once, with its whole cause chain. A missing owner is for host applications to debug.
    pub(crate) fn log(&self, request_id: &str) {
        match self {
            Self::Storage(error) => {
                tracing::error!(request_id, error = chain(error), "a request of the developer settings failed");
            }
            Self::NoOwner => tracing::debug!(request_id, "whoever asked the developer settings owns no account"),
            _ => {}
        }
    }
}
