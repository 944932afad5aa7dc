//! `llms.txt`: what an AI agent must know to call the API right, and where the rest is.

use super::openapi::required_scope;
use super::reference::block::code;
use super::reference::endpoints::{curl, rules};
use super::reference::general::{AUTHENTICATION, CONDITIONAL, ERRORS, limit_rule, paging_rule, rate_limited};
use super::reference::links;
use super::schemas::Schemas;
use super::{Document, SUMMARY, TITLE, VERSION, markdown};
use crate::address::Address;
use crate::auth::Scope;
use crate::error::ErrorCode;
use crate::operation::Operation;

pub(super) fn render(base: &Address, docs: &Address) -> String {
    let schemas = Schemas::collect();
    let endpoints: String = Operation::ALL.iter().map(|&operation| endpoint(operation, base, &schemas)).collect();
    let notes: String = notes(base).iter().map(|note| format!("- {note}\n")).collect();
    let (mut documents, mut optional) = (String::new(), String::new());
    for link in links(docs) {
        match link.document {
            Document::OpenApi | Document::Markdown => documents += &markdown::write_link(&link),
            // What people read is what an agent may leave out.
            Document::Reference | Document::ReferenceSlash => optional += &markdown::write_link(&link),
            Document::Llms => {}
        }
    }
    format!(
        "# {TITLE}\n\n> {SUMMARY}\n\nVersion {VERSION}. How to call it:\n\n{notes}\nEndpoints:\n\n{endpoints}\n\
         ## Documents\n\n{documents}\n## Optional\n\n{optional}"
    )
}

/// One endpoint, with what it takes and what it answers.
fn endpoint(operation: Operation, base: &Address, schemas: &Schemas) -> String {
    let row = operation.row();
    let address = code(&format!("GET {}{}", base.as_str(), row.path));
    let mut text = format!("- {address} ({}): {} Scope required: {}.\n", row.id, row.description, required_scope(row));
    for &parameter in row.parameters {
        let place = if parameter.is_in_path() { "path, required" } else { "query, optional" };
        text += &format!("  - {} ({place}): {}\n", code(parameter.name()), rules(parameter));
    }
    if schemas.objects_in(schemas.answer(operation)).is_empty() {
        return text;
    }
    text + &format!("  - Answer: {}\n", code(&schemas.sketch(schemas.answer(operation))))
}

fn notes(base: &Address) -> Vec<String> {
    let scopes = Scope::DEFINED.iter().map(|(scope, _)| code(scope.name())).collect::<Vec<_>>().join(" and ");
    let codes = ErrorCode::ALL.iter().map(|error| format!("{} ({})", code(error.as_str()), error.status().as_str()));
    let codes = codes.collect::<Vec<_>>().join(", ");
    let mut notes = vec![
        AUTHENTICATION.to_owned(),
        format!("A token reads the data of its own account only. Scopes are {scopes}."),
        paging_rule().to_owned(),
        limit_rule(),
        format!("Failures are `{{ \"error\": {{ \"code\", \"message\", \"details\" }} }}`. {ERRORS} Codes: {codes}."),
        format!(
            "Do not try again with the same token after {}; try again later after {}.",
            statuses(&[ErrorCode::Unauthorized, ErrorCode::InsufficientScope]),
            statuses(&[ErrorCode::InternalError]),
        ),
        rate_limited(),
        CONDITIONAL.to_owned(),
        "The API reads only, and a module's body is in no answer.".to_owned(),
    ];
    if base.as_str() == base.path() {
        notes.insert(0, "Addresses without a host belong to the server that this file was read from.".to_owned());
    }
    notes.push(format!("For instance: {}", code(&curl(Operation::ListCourses.row(), base))));
    notes
}

fn statuses(errors: &[ErrorCode]) -> String {
    errors.iter().map(|error| error.status().as_str().to_owned()).collect::<Vec<_>>().join(" or ")
}
