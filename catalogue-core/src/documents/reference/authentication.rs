//! The section on keys, tokens and scopes.

use super::block::{Block, code};
use super::general::status;
use crate::documents::about::Site;
use crate::error::ErrorCode;
use crate::model::Scope;

pub(in crate::documents) const AUTHENTICATION: &str = "Every request to an endpoint carries one header \
                                                       `Authorization: Bearer <API_KEY>`. A token in the query string \
                                                       is never read. The documents are public.";

pub(super) fn authentication(site: Site<'_>) -> Vec<Block> {
    let scopes = Scope::DEFINED.iter().map(|&(ref scope, grants)| vec![code(scope.name()), grants.to_owned()]);
    let unauthorized = status(ErrorCode::Unauthorized);
    let mut blocks = vec![
        Block::heading(2, "Authentication and scopes"),
        Block::text(AUTHENTICATION),
        Block::Text(format!(
            "{} OAuth tokens are recognised too.{} Either reads the data of its own account only. Keep them secret: a key \
             seldom belongs in a browser, and scripts of other origins are answered only where the deployment lists \
             their origin.",
            site.keys(),
            site.issuers()
        )),
        Block::Table { head: &["Scope", "Grants"], rows: scopes.collect(), ids: Vec::new() },
        Block::Text(format!(
            "A missing or invalid token is answered {unauthorized}, and so is an expired or revoked one, from the next \
             request on. A valid one without the scope that the endpoint requires is answered {}; so is one of a kind \
             that the deployment does not accept, where a scope is required. A path below the base address that is no \
             endpoint is answered {unauthorized} without a valid token, and {} with one.",
            status(ErrorCode::InsufficientScope),
            status(ErrorCode::NotFound),
        )),
    ];
    blocks.extend(site.questions().map(Block::Text));
    blocks
}
