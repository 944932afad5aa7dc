//! The guides of the reference, from templates in Markdown. In a template, `{name}` stands for a value, and a line `@name`
//! for blocks.

use bytes::Bytes;
use http::header::CACHE_CONTROL;
use http::{HeaderMap, StatusCode};

use super::block::{Block, code};
use super::errors;
use super::samples::{self, curl, host_prefix, wrapped};
use crate::documents::VERSION;
use crate::documents::about::Site;
use crate::documents::examples;
use crate::documents::links::EXAMPLE_HOST;
use crate::error::{ApiError, ErrorCode};
use crate::model::Scope;
use crate::operation::Operation;
use crate::request_id::MAX_REQUEST_ID_LENGTH;
use crate::response::entity::{ALLOWED_METHODS, Entity};
use crate::response::envelope;
use crate::storage::Limit;

/// Names of values in a template, with the values.
pub(in crate::documents) type Values = Vec<(&'static str, String)>;

/// Returns the quick start and the guide to a copy that stays in sync.
pub(super) fn start(site: Site<'_>, origin: &str) -> Vec<Block> {
    let mut values = values(site);
    let first = wrapped(&curl(Operation::ListCourses.spec(), site, origin));
    values.push(("quiet", first.replacen("curl", "curl -s", 1)));
    values.push(("start", first[..first.len() - 1].to_owned()));
    values.push(("first", first));
    let server = format!("Replace `$SERVER` with the scheme and host of the server, such as `https://{EXAMPLE_HOST}`.");
    parse(&fill(include_str!("guide/start.md"), &values), |name| match name {
        "base" => vec![Block::Base(format!("{}{}", host_prefix(site, origin), site.base.as_str()))],
        "server" if site.has_relative_base() => vec![Block::ServerNote(server.clone())],
        "server" => Vec::new(),
        _ => vec![Block::Samples("Keep a copy in sync".to_owned(), samples::sync(site, origin))],
    })
}

/// Returns the rules for all endpoints.
pub(in crate::documents) fn rules(site: Site<'_>) -> Vec<Block> {
    let mut blocks = parse(&fill(include_str!("guide/rules.md"), &values(site)), |name| match name {
        "scopes" => vec![scopes()],
        "codes" => vec![errors::codes()],
        _ => vec![errors::details()],
    });
    blocks.extend(site.questions().map(Block::Text));
    blocks
}

/// Returns the values that all templates share. The name of an error code stands for its status.
pub(in crate::documents) fn values(site: Site<'_>) -> Values {
    let success = examples::success(Operation::GetCourse.spec(), site);
    let limited = examples::limited();
    let document = envelope::document(&Entity::from_bytes("text/plain", Bytes::new()), &HeaderMap::new());
    let body = success.body.as_ref();
    let base = site.base.as_str();
    let mut values: Values =
        ErrorCode::ALL.iter().map(|error| (error.as_str(), error.status().as_str().to_owned())).collect();
    values.extend([
        ("not_modified", StatusCode::NOT_MODIFIED.as_str().to_owned()),
        ("wrong_method", ApiError::MethodNotAllowed.status().as_str().to_owned()),
        ("methods", ALLOWED_METHODS.to_owned()),
        ("keys", site.keys()),
        ("issuers", site.issuers()),
        ("base", if base.is_empty() { "the root of this server".to_owned() } else { code(base) }),
        ("time", body.and_then(|body| body["data"]["publishedAt"].as_str()).unwrap_or_default().to_owned()),
        ("max_request_id", MAX_REQUEST_ID_LENGTH.to_string()),
        ("min_limit", Limit::MIN.get().to_string()),
        ("max_limit", Limit::MAX.get().to_string()),
        ("default_limit", Limit::DEFAULT.get().to_string()),
        ("cached", success.header("Cache-Control").to_owned()),
        ("vary", success.header("Vary").to_owned()),
        ("uncached", limited.header("Cache-Control").to_owned()),
        ("public", document.headers()[CACHE_CONTROL].to_str().expect("visible ASCII").to_owned()),
        ("policy", success.header("RateLimit-Policy").to_owned()),
        ("remaining", success.header("RateLimit").to_owned()),
        ("exhausted", limited.header("RateLimit").to_owned()),
        ("retry_after", limited.header("Retry-After").to_owned()),
        ("version", VERSION.to_owned()),
    ]);
    values
}

/// Replaces each `{name}` with its value. Other braces stay.
pub(in crate::documents) fn fill(template: &str, values: &Values) -> String {
    let mut parts = template.split('{');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let value_of = |name| values.iter().find(|(known, _)| *known == name);
        match part.split_once('}').and_then(|(name, rest)| Some((value_of(name)?, rest))) {
            Some(((_, value), rest)) => text.extend([value, rest]),
            None => text.extend(["{", part]),
        }
    }
    text
}

/// Parses parts between empty lines: headings, lists, code with its language and label, texts, and names of blocks.
fn parse(text: &str, insert: impl Fn(&str) -> Vec<Block>) -> Vec<Block> {
    let unwrapped = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let block = |part: &str| match part.split_at_checked(1) {
        Some(("@", name)) => insert(name.trim_end()),
        Some(("#", title)) => vec![Block::heading(2, title.trim_start_matches('#').trim())],
        Some(("-", items)) => vec![Block::List(items.split("\n- ").map(unwrapped).collect())],
        Some(("`", code)) if code.starts_with("``") => code_block(code),
        _ => vec![Block::Text(unwrapped(part))],
    };
    text.trim_end().split("\n\n").flat_map(block).collect()
}

/// Parses code between fences, whose first line has the language and the label.
fn code_block(fence: &str) -> Vec<Block> {
    let lines = fence.trim_matches('`').trim_end().split_once('\n');
    let block = |(head, text): (&str, &str)| {
        let (language, label) = head.split_once(' ')?;
        Some(Block::Code { language: language.to_owned(), label: label.to_owned(), text: text.to_owned() })
    };
    lines.and_then(block).into_iter().collect()
}

fn scopes() -> Block {
    let rows = Scope::DEFINED.iter().map(|&(ref scope, grants)| vec![code(scope.name()), grants.to_owned()]);
    Block::Table { head: &["Scope", "Permission"], rows: rows.collect(), ids: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::{about::About, markdown};
    use crate::mount_url::MountUrl;

    #[test]
    fn templates_have_no_unknown_names() {
        let [base, docs] = ["/api/v1", "/docs"].map(|text| MountUrl::parse(text).unwrap());
        let about = About::default();
        let site = Site { base: &base, docs: &docs, about: &about };
        for mut blocks in [start(site, "$SERVER"), rules(site)] {
            blocks.retain(|block| !matches!(block, Block::Samples(..)));
            let text = markdown::blocks(&blocks);
            let names = text.split('{').skip(1).filter_map(|part| Some(part.split_once('}')?.0));
            let is_name = |name: &&str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
            assert_eq!(names.filter(is_name).collect::<Vec<_>>(), [""; 0], "{text}");
            assert!(!text.contains("\n@"), "{text}");
        }
    }
}
