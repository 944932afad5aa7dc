//! `llms.txt`: what an AI agent must know to call the API right, and where the rest is.

use super::openapi::required_scope;
use super::reference::block::code;
use super::reference::general::{AUTHENTICATION, CONDITIONAL, ERRORS, RATE_LIMITED, limit_rule, paging_rule};
use super::reference::links;
use super::{SUMMARY, TITLE, VERSION, markdown};
use crate::address::Address;
use crate::auth::Scope;
use crate::error::ErrorCode;
use crate::operation::{Operation, Row};

pub(super) fn render(base: &Address, docs: &Address) -> String {
    let endpoints: String = Operation::ALL.iter().map(|operation| endpoint(operation.row(), base)).collect();
    let links: String = links(docs).iter().filter(|link| link.title != "llms.txt").map(markdown::write_link).collect();
    let notes: String = notes(base).iter().map(|note| format!("- {note}\n")).collect();
    format!(
        "# {TITLE}\n\n> {SUMMARY}\n\nVersion {VERSION}. Endpoints:\n\n{endpoints}\nNotes:\n\n{notes}\n## Documents\n\n{links}"
    )
}

fn endpoint(row: &Row, base: &Address) -> String {
    let address = code(&format!("GET {}{}", base.as_str(), row.path));
    format!("- {address} ({}): {} Scope required: {}.\n", row.id, row.description, required_scope(row))
}

fn notes(base: &Address) -> Vec<String> {
    let scopes = Scope::DEFINED.map(|(scope, _)| code(scope.name())).join(" and ");
    let codes =
        ErrorCode::ALL.map(|error| format!("{} ({})", code(error.as_str()), error.status().as_str())).join(", ");
    let mut notes = vec![
        AUTHENTICATION.to_owned(),
        format!("A token reads the data of its own account only. Scopes are {scopes}."),
        paging_rule().to_owned(),
        limit_rule(),
        format!("Failures are `{{ \"error\": {{ \"code\", \"message\", \"details\" }} }}`. {ERRORS} Codes: {codes}."),
        "Do not try again with the same token after 401 or 403; try again later after 500.".to_owned(),
        RATE_LIMITED.to_owned(),
        CONDITIONAL.to_owned(),
        "The API reads only, and a module's body is in no answer.".to_owned(),
    ];
    if base.as_str() == base.path() {
        notes.insert(0, "Addresses without a host belong to the server that this file was read from.".to_owned());
    }
    notes
}
