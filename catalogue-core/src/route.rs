//! [`Router`]: finds the operation or document that a path denotes (decisions R1 to R5).

use http::Method;

use crate::error::ApiError;
use crate::mount_url::MountUrl;
use crate::operation::Operation;
use crate::operation::document::DocumentFormat;

/// Mount points of the API and its documents, which paths are matched against.
#[derive(Clone, Debug)]
pub(crate) struct Router {
    pub(crate) base: MountUrl,
    pub(crate) docs: MountUrl,
    /// Whether the catalogue serves the server's root too (decision R12).
    pub(crate) serve_root: bool,
}

/// Target that a path denotes, borrowed from the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route<'r> {
    /// An operation, with its path parameter exactly as in the path.
    Operation(Operation, &'r str),
    /// Below the base URL, but not an operation: only a valid credential gets the 404 (decision R3).
    UnknownOperation,
    Document(DocumentFormat),
    /// Metadata about where tokens come from (decision O33).
    ProtectedResource,
    /// Below the documents' URL, but not a document.
    UnknownDocument,
    /// The root, if the catalogue serves it: browsers are redirected to the reference page (decision R12).
    Root,
    /// Outside both URLs.
    Outside,
}

/// Kind of a method that a known path allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MethodKind {
    /// GET or HEAD.
    Read,
    /// OPTIONS, which needs no credential, as preflights carry none.
    Options,
}

impl Router {
    /// Returns what `path` denotes. Documents come first, then operations; otherwise the longer URL above `path` decides.
    pub(crate) fn route<'r>(&self, path: &'r str) -> Route<'r> {
        let below_docs = self.docs.below(path);
        if let Some(document) = below_docs.and_then(DocumentFormat::at) {
            return Route::Document(document);
        }
        let below_base = self.base.below(path);
        if let Some((operation, segment)) = below_base.and_then(Operation::at) {
            return Route::Operation(operation, segment);
        }
        let base_is_nearer = self.base.path().len() > self.docs.path().len();
        match (below_base, below_docs) {
            (Some(_), Some(_)) if base_is_nearer => Route::UnknownOperation,
            (_, Some(_)) => Route::UnknownDocument,
            (Some(_), None) => Route::UnknownOperation,
            (None, None) if !self.serve_root => Route::Outside,
            (None, None) if path == "/" => Route::Root,
            (None, None) if path == DocumentFormat::Llms.path() => Route::Document(DocumentFormat::Llms),
            (None, None) => Route::Outside,
        }
    }

    /// Returns the path of a document that is also an operation's path, with that operation, if there is one.
    pub(crate) fn collision(&self) -> Option<(String, Operation)> {
        DocumentFormat::ALL.into_iter().find_map(|document| {
            let path = format!("{}{}", self.docs.path(), document.path());
            let (operation, _) = self.base.below(&path).and_then(Operation::at)?;
            Some((path, operation))
        })
    }
}

impl Route<'_> {
    /// Checks the method, after the check for paths outside both URLs and before the credential's (decision R2).
    pub(crate) fn check_method(self, method: &Method) -> Result<MethodKind, ApiError> {
        match self {
            Self::Outside | Self::UnknownDocument => Err(ApiError::NotFound),
            // Only callers with a credential may learn whether the path is known, whatever the method.
            Self::UnknownOperation => Ok(MethodKind::Read),
            // Only GET and HEAD can get the redirect; for other methods, the root does not exist.
            Self::Root if matches!(*method, Method::GET | Method::HEAD) => Ok(MethodKind::Read),
            Self::Root => Err(ApiError::NotFound),
            Self::Operation(..) | Self::Document(_) | Self::ProtectedResource => match *method {
                Method::GET | Method::HEAD => Ok(MethodKind::Read),
                Method::OPTIONS => Ok(MethodKind::Options),
                _ => Err(ApiError::MethodNotAllowed),
            },
        }
    }
}
