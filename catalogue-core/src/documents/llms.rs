//! `llms.txt`: what an AI agent must know to call the API correctly, and links to the other documents.

use super::about::Site;
use super::links::links;
use super::markdown::SERVER_VARIABLE;
use super::openapi::required_scope;
use super::reference::block::code;
use super::reference::endpoints::rules;
use super::reference::guide;
use super::reference::samples::curl;
use super::schemas::Schemas;
use super::{DocumentFormat, SUMMARY};
use crate::error::ErrorCode;
use crate::model::Scope;
use crate::mount_url::MountUrl;
use crate::operation::Operation;

pub(super) fn render(site: Site<'_>) -> String {
    let schemas = Schemas::collect();
    let scopes = Scope::DEFINED.iter().map(|(scope, _)| code(scope.name())).collect::<Vec<_>>().join(" and ");
    let codes = ErrorCode::ALL.iter().map(|error| format!("{} ({})", code(error.as_str()), error.status().as_str()));
    let server = "- URLs without a host are on the server that this file was read from.\n";
    // The page is for people, so it is optional for an agent.
    let (documents, optional): (Vec<_>, Vec<_>) = links(site.docs)
        .into_iter()
        .filter(|link| link.document != DocumentFormat::Llms)
        .partition(|link| link.document != DocumentFormat::Reference);
    let [documents, optional] =
        [documents, optional].map(|links| links.iter().map(|link| format!("- {link}\n")).collect::<String>());
    let mut values = guide::values(site);
    values.extend([
        ("title", site.title().to_owned()),
        ("summary", SUMMARY.to_owned()),
        ("server", if site.has_relative_base() { server } else { "" }.to_owned()),
        ("scopes", scopes),
        ("codes", codes.collect::<Vec<_>>().join(", ")),
        ("questions", site.questions().map(|text| format!("- {text}\n")).unwrap_or_default()),
        ("example", curl(Operation::ListCourses.spec(), site, SERVER_VARIABLE)),
        ("endpoints", Operation::ALL.iter().map(|&operation| endpoint(operation, site.base, &schemas)).collect()),
        ("documents", documents),
        ("optional", optional.trim_end().to_owned()),
    ]);
    guide::fill(include_str!("llms.md"), &values)
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
