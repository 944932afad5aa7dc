//! Sample programs in several languages, and curl commands. For each language, `get.*` requests one response and `walk.*` all
//! pages of a list; `sync.*` keeps a copy of all courses.

use crate::documents::about::Site;
use crate::operation::{Operation, Parameter, Spec};
use crate::storage::Limit;

/// Placeholder in the programs for the URL that they request.
const REQUEST_URL: &str = "REQUEST_URL";

/// A program in one language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::documents) struct Sample {
    pub(in crate::documents) language: &'static str,
    pub(in crate::documents) text: String,
}

/// Languages with their programs: for one response, and for all pages.
const LANGUAGES: [(&str, &str, &str); 4] = [
    ("Python", include_str!("get.py"), include_str!("walk.py")),
    ("TypeScript", include_str!("get.ts"), include_str!("walk.ts")),
    ("Ruby", include_str!("get.rb"), include_str!("walk.rb")),
    ("PHP", include_str!("get.php"), include_str!("walk.php")),
];

/// Returns a call of the operation in every language, curl first. `origin` precedes a URL without a host.
pub(super) fn all(spec: &Spec, site: Site<'_>, origin: &str) -> Vec<Sample> {
    let pages = spec.parameters.contains(&Parameter::Cursor);
    let query = if pages { format!("?{}={}", Parameter::Limit.name(), Limit::MAX.get()) } else { query(spec) };
    let url = format!("{}{query}", url(spec, site, origin));
    let curl = Sample { language: "curl", text: wrapped(&curl(spec, site, origin)) };
    let program = |&(language, get, walk)| sample(language, if pages { walk } else { get }, &url);
    [curl].into_iter().chain(LANGUAGES.iter().map(program)).collect()
}

/// Returns programs that keep a copy of all courses in sync.
pub(super) fn sync(site: Site<'_>, origin: &str) -> Vec<Sample> {
    let url = url(Operation::ListCourses.spec(), site, origin);
    [("Python", include_str!("sync.py")), ("TypeScript", include_str!("sync.ts"))]
        .map(|(language, text)| sample(language, text, &url))
        .into()
}

fn sample(language: &'static str, text: &str, url: &str) -> Sample {
    // The apostrophe is the only character of URLs that ends a string, and only in PHP.
    let url = if text.starts_with("<?php") { &*url.replace('\'', "\\'") } else { url };
    Sample { language, text: text.trim_end().replace(REQUEST_URL, url) }
}

fn url(spec: &Spec, site: Site<'_>, origin: &str) -> String {
    format!("{}{}{}", host_prefix(site, origin), site.base.as_str(), path(spec))
}

/// Returns a command that requests the example response.
pub(in crate::documents) fn curl(spec: &Spec, site: Site<'_>, origin: &str) -> String {
    let (server, base) = (host_prefix(site, origin), in_double_quotes(site.base.as_str()));
    format!(r#"curl -H "Authorization: Bearer $API_KEY" "{server}{base}{}{}""#, path(spec), query(spec))
}

pub(super) fn wrapped(curl: &str) -> String {
    curl.replacen("\" \"", "\" \\\n  \"", 1)
}

/// Returns the text before the base URL.
pub(super) fn host_prefix<'o>(site: Site<'_>, origin: &'o str) -> &'o str {
    if site.has_relative_base() { origin } else { "" }
}

fn path(spec: &Spec) -> String {
    let in_path = spec.parameters.iter().filter(|parameter| parameter.is_in_path());
    in_path.fold(spec.path.to_owned(), |path, &parameter| {
        path.replace(&format!("{{{}}}", parameter.name()), &example(parameter).unwrap_or_default())
    })
}

fn query(spec: &Spec) -> String {
    let in_query = spec.parameters.iter().filter(|parameter| !parameter.is_in_path());
    let pair = |&parameter: &Parameter| Some(format!("{}={}", parameter.name(), example(parameter)?));
    let pairs: Vec<_> = in_query.filter_map(pair).collect();
    if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
}

pub(super) fn example(parameter: Parameter) -> Option<String> {
    let value = parameter.example()?;
    Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

/// Escapes `text` for double quotes of a shell.
fn in_double_quotes(text: &str) -> String {
    text.replace('\\', r"\\").replace('"', "\\\"").replace('$', r"\$").replace('`', r"\`")
}
