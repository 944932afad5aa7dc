//! The section on keys, tokens and scopes.

use super::block::{Block, code};
use super::general::status;
use crate::documents::about::Site;
use crate::error::ErrorCode;
use crate::model::Scope;

pub(in crate::documents) const AUTHENTICATION: &str = "Every request to an endpoint needs exactly one header \
                                                       `Authorization: Bearer <API_KEY>`. Tokens in the query string \
                                                       are ignored. The documents are public.";

pub(super) fn authentication(site: Site<'_>) -> Vec<Block> {
    let scopes = Scope::DEFINED.iter().map(|&(ref scope, grants)| vec![code(scope.name()), grants.to_owned()]);
    let unauthorized = status(ErrorCode::Unauthorized);
    let mut blocks = vec![
        Block::heading(2, "Authentication and scopes"),
        Block::text(AUTHENTICATION),
        Block::Text(format!(
            "{} OAuth tokens are recognized too.{} Both read only the data of their account. Keep them secret: do not put \
             a key in browser code. Cross-origin requests work only from origins that the deployment allows (CORS).",
            site.keys(),
            site.issuers()
        )),
        Block::Table { head: &["Scope", "Grants"], rows: scopes.collect(), ids: Vec::new() },
        Block::Text(format!(
            "A missing, invalid, expired or revoked token gets a {unauthorized}; a revocation applies from the next request \
             on. A valid token gets a {} if it lacks the scope that the endpoint requires, or if the endpoint requires a \
             scope and the deployment does not accept tokens of this kind. An unknown path below the base URL gets a \
             {unauthorized} without a valid token and a {} with one.",
            status(ErrorCode::InsufficientScope),
            status(ErrorCode::NotFound),
        )),
    ];
    blocks.extend(site.questions().map(Block::Text));
    blocks
}
