//! `llms.txt`: what an AI agent must know to call the API correctly, and links to the other documents.

use super::about::Site;
use super::links::links;
use super::markdown::SERVER_VARIABLE;
use super::openapi::required_scope;
use super::reference::authentication::AUTHENTICATION;
use super::reference::block::code;
use super::reference::endpoints::rules;
use super::reference::general::{CONDITIONAL, ERRORS, PAGING, limit_rule, rate_limited};
use super::reference::samples::curl;
use super::schemas::Schemas;
use super::{DocumentFormat, SUMMARY, VERSION, markdown};
use crate::error::ErrorCode;
use crate::model::Scope;
use crate::mount_url::MountUrl;
use crate::operation::Operation;

pub(super) fn render(site: Site<'_>) -> String {
    let schemas = Schemas::collect();
    let endpoints: String = Operation::ALL.iter().map(|&operation| endpoint(operation, site.base, &schemas)).collect();
    let notes: String = notes(site).iter().map(|note| format!("- {note}\n")).collect();
    let (mut documents, mut optional) = (String::new(), String::new());
    for link in links(site.docs) {
        match link.document {
            DocumentFormat::OpenApi | DocumentFormat::OpenApi30 | DocumentFormat::Markdown => {
                documents += &markdown::write_link(&link);
            }
            // The page is for people, so it is optional for an agent.
            DocumentFormat::Reference => optional += &markdown::write_link(&link),
            DocumentFormat::Llms => {}
        }
    }
    format!(
        "# {}\n\n> {SUMMARY}\n\nVersion {VERSION}. How to call it:\n\n{notes}\nEndpoints:\n\n{endpoints}\n\
         ## Documents\n\n{documents}\n## Optional\n\n{optional}",
        site.title()
    )
}

/// Describes one endpoint: its parameters and its response.
fn endpoint(operation: Operation, base: &MountUrl, schemas: &Schemas) -> String {
    let spec = operation.spec();
    let endpoint = code(&format!("GET {}{}", base.as_str(), spec.path));
    let mut text =
        format!("- {endpoint} ({}): {} Scope required: {}.\n", spec.id, spec.description, required_scope(spec));
    for &parameter in spec.parameters {
        let location = if parameter.is_in_path() { "path, required" } else { "query, optional" };
        text += &format!("  - {} ({location}): {}\n", code(parameter.name()), rules(parameter));
    }
    if schemas.objects_in(schemas.response(operation)).is_empty() {
        return text;
    }
    text + &format!("  - Response: {}\n", code(&schemas.sketch(schemas.response(operation))))
}

fn notes(site: Site<'_>) -> Vec<String> {
    let scopes = Scope::DEFINED.iter().map(|(scope, _)| code(scope.name())).collect::<Vec<_>>().join(" and ");
    let codes = ErrorCode::ALL.iter().map(|error| format!("{} ({})", code(error.as_str()), error.status().as_str()));
    let codes = codes.collect::<Vec<_>>().join(", ");
    let mut notes = vec![
        AUTHENTICATION.to_owned(),
        format!("A token reads only the data of its account. The scopes are {scopes}."),
        PAGING.to_owned(),
        limit_rule(),
        format!("Errors are `{{ \"error\": {{ \"code\", \"message\", \"details\" }} }}`. {ERRORS} Codes: {codes}."),
        format!(
            "Do not retry with the same token after a {}. After a {}, retry later.",
            statuses(&[ErrorCode::Unauthorized, ErrorCode::InsufficientScope]),
            statuses(&[ErrorCode::InternalError]),
        ),
        rate_limited(),
        CONDITIONAL.to_owned(),
        "The API is read-only and never returns module bodies.".to_owned(),
    ];
    notes.extend([site.keys()].into_iter().chain(site.questions()));
    if site.has_relative_base() {
        notes.insert(0, "URLs without a host are on the server that this file was read from.".to_owned());
    }
    notes.push(format!("Example: {}", code(&curl(Operation::ListCourses.spec(), site, SERVER_VARIABLE))));
    notes
}

fn statuses(errors: &[ErrorCode]) -> String {
    errors.iter().map(|error| error.status().as_str().to_owned()).collect::<Vec<_>>().join(" or ")
}
