//! The reference page as it is served; the tests of the server use it in a browser.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use catalogue_core::{Catalogue, DocumentFormat, Operation};
use http::{Method, Request, Response, StatusCode};
use sha2::{Digest, Sha256};

use crate::{BASE, DOCS, catalogue, json, operation, resolve};

const POLICY: &str = "content-security-policy";

async fn get(catalogue: &Catalogue, target: &str) -> Response<Bytes> {
    catalogue.call(Request::get(target).body(()).unwrap()).await
}

async fn page_at(base: &str, docs: &str, target: &str) -> String {
    let response = get(&catalogue(base, docs), target).await;
    assert_eq!(response.status(), StatusCode::OK, "{target}");
    String::from_utf8(response.body().to_vec()).unwrap()
}

async fn page() -> String {
    page_at(BASE, DOCS, DOCS).await
}

/// Returns the content of the only element `name`.
fn only<'p>(page: &'p str, name: &str) -> &'p str {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    assert_eq!((page.matches(&format!("<{name}")).count(), page.matches(&close).count()), (1, 1), "{name}");
    page.split_once(&open).unwrap().1.split_once(&close).unwrap().0
}

/// Returns the opening tags: the name of each element, and its attributes as they are written.
fn elements(page: &str) -> Vec<(&str, &str)> {
    let text = page.split_once("<script>").unwrap().0;
    let tags = text.split('<').skip(1).filter(|piece| piece.starts_with(|c: char| c.is_ascii_alphabetic()));
    tags.map(|piece| piece.split_once('>').unwrap().0).map(|tag| tag.split_once(' ').unwrap_or((tag, ""))).collect()
}

fn attribute<'p>(attributes: &'p str, name: &str) -> Option<&'p str> {
    let (_, rest) = attributes.split_once(&format!("{name}=\""))?;
    rest.split('"').next()
}

#[tokio::test]
async fn policy_allows_own_style_script_and_api() {
    for (base, docs, api) in [
        ("/api/v1", "/docs", "'self'"),
        ("/api/v1", "https://docs.example.com/docs", "'self'"),
        ("https://a.example/v1", "https://b.example/docs", "https://a.example"),
        ("https://a.example:8443/v1", "/docs", "https://a.example:8443"),
        ("http://127.0.0.1:80/v1", "http://127.0.0.1:80/docs", "'self' http://127.0.0.1:80"),
        // A policy cannot name these.
        ("http://[::1]:80/v1", "http://[::1]:80/docs", "'self'"),
        ("http://a;b/v1", "/docs", "'none'"),
    ] {
        let catalogue = catalogue(base, docs);
        let response = get(&catalogue, DOCS).await;
        let page = std::str::from_utf8(response.body()).unwrap();
        let [style, script] =
            ["style", "script"].map(|name| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(only(page, name)))));
        let policy = format!(
            "default-src 'none'; style-src {style}; script-src {script}; connect-src {api}; img-src data:; base-uri 'none'; \
             form-action 'none'; frame-ancestors 'none'"
        );
        assert_eq!(response.headers()[POLICY], policy, "{base} {docs}");
    }
}

#[tokio::test]
async fn only_the_page_has_page_headers() {
    let catalogue = catalogue(BASE, DOCS);
    let tag = get(&catalogue, DOCS).await.headers()["etag"].clone();
    for path in [
        "/docs",
        "/docs/",
        "/docs/openapi.json",
        "/docs/openapi-3.0.json",
        "/docs/openapi.md",
        "/docs/llms.txt",
        "/docs/none",
        "/api/v1/me",
    ] {
        for (method, tag) in [(Method::GET, None), (Method::HEAD, None), (Method::GET, Some(&tag))] {
            let mut request = Request::builder().method(&method).uri(path).body(()).unwrap();
            request.headers_mut().extend(tag.map(|tag| (http::header::IF_NONE_MATCH, tag.clone())));
            let response = catalogue.call(request).await;
            let is_page = matches!(path, "/docs" | "/docs/");
            assert_eq!(response.headers().contains_key(POLICY), is_page, "{method} {path}");
            assert_eq!(response.headers().contains_key("referrer-policy"), is_page, "{method} {path}");
            assert_eq!(response.status() == StatusCode::NOT_MODIFIED, is_page && tag.is_some(), "{method} {path}");
        }
    }
    let wrong_method = catalogue.call(Request::post(DOCS).body(()).unwrap()).await;
    assert!(!wrong_method.headers().contains_key(POLICY));
}

#[tokio::test]
async fn page_loads_nothing_from_other_hosts() {
    let page = page().await;
    for forbidden in ["<img", "<iframe", " src=", "srcset", " style=", "javascript:"] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    for (name, attributes) in elements(&page) {
        let is_handler = |piece: &str| piece.starts_with("on") && piece.contains('=');
        assert!(!attributes.split(' ').any(is_handler), "{attributes}");
        for link in ["href", "action", "data", "poster"].into_iter().filter_map(|link| attribute(attributes, link)) {
            assert!(!link.contains("//") || name == "link" && link.starts_with("data:"), "{link}");
        }
    }
    for forbidden in ["@import", "url("] {
        assert!(!only(&page, "style").contains(forbidden), "{forbidden}");
    }
    let script = only(&page, "script");
    for word in ["innerHTML", "insertAdjacentHTML", "document.write", "eval(", "Storage", "cookie", "://", "import("] {
        assert!(!script.contains(word), "{word}");
    }
}

#[tokio::test]
async fn links_resolve_from_both_page_paths() {
    let catalogue = catalogue(BASE, DOCS);
    let page = page().await;
    for (_, attributes) in elements(&page).into_iter().filter(|(name, _)| *name == "a") {
        let link = attribute(attributes, "href").unwrap();
        match link.strip_prefix('#') {
            Some(id) => assert!(page.contains(&format!("id=\"{id}\"")), "{link}"),
            None => {
                assert!(link.starts_with('/'), "{link} depends on the path of the page");
                assert_eq!(get(&catalogue, link).await.status(), StatusCode::OK, "{link}");
            }
        }
    }
}

#[tokio::test]
async fn page_structure_is_valid() {
    let page = page().await;
    assert!(page.starts_with("<!DOCTYPE html>\n<html lang=\"en\">"));
    let elements = elements(&page);
    let count = |name| elements.iter().filter(|(known, _)| *known == name).count();
    assert_eq!([count("h1"), count("main"), count("header"), count("title"), count("nav")], [1, 1, 1, 1, 2]);
    let mut ids = BTreeSet::new();
    for id in elements.iter().filter_map(|(_, attributes)| attribute(attributes, " id").or(attribute(attributes, "id")))
    {
        assert!(ids.insert(id), "{id} is repeated");
    }
    for (name, attributes) in &elements {
        for reference in ["for", "aria-describedby", "aria-labelledby"] {
            assert!(attribute(attributes, reference).is_none_or(|id| ids.contains(id)), "{name} {attributes}");
        }
        let id = attribute(attributes, "id").unwrap_or_default();
        let is_labelled =
            || elements.iter().any(|(name, label)| *name == "label" && attribute(label, "for") == Some(id));
        assert!(*name != "input" || is_labelled(), "{attributes} has no label");
    }
    let levels = elements.iter().filter_map(|(name, _)| name.strip_prefix('h')?.parse::<u8>().ok()).collect::<Vec<_>>();
    assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "a heading skips a level: {levels:?}");
    for (name, end) in [
        ("table", "</table>"),
        ("form", "</form>"),
        ("details", "</details>"),
        ("div", "</div>"),
        ("pre", "</pre>"),
        ("p", "</p>"),
    ] {
        assert_eq!(count(name), page.matches(end).count(), "{name}");
    }
}

#[tokio::test]
async fn each_operation_has_samples_and_failure_examples() {
    let page = page().await;
    let elements = elements(&page);
    let document = json(DocumentFormat::OpenApi);
    for &known in Operation::ALL {
        for language in ["curl", "Python", "TypeScript", "Ruby", "PHP"] {
            let label = format!("data-copy=\"GET {} in {language}\"", known.path());
            assert_eq!(page.matches(&label).count(), 1, "{label}");
        }
        let responses = operation(&document, known.id()).1["responses"].as_object().unwrap();
        // The conventions describe the response to another method.
        for (status, response) in responses.iter().filter(|(status, _)| *status != "405") {
            let id = format!("id=\"{}-{status}\"", known.id());
            let (_, rest) = page.split_once(&id).unwrap_or_else(|| panic!("no {id}"));
            let part = rest.split(" id=\"").next().unwrap();
            let examples = &resolve(&document, response)["content"]["application/json"]["examples"];
            let examples = examples.as_object().filter(|_| status.as_str() >= "400").map_or(0, serde_json::Map::len);
            assert_eq!(part.matches("<pre ").count(), examples, "{id}");
            assert_eq!(part.starts_with(" open>"), status == "200" && known != Operation::GetOpenApi, "{id}");
        }
    }
    assert!(
        elements.iter().any(|(_, attributes)| attributes.contains("id=\"error-invalid-request-limit-out-of-range\""))
    );
    // Only the first cell of a row links to the row.
    let link = "<a href=\"#error-not-found\">";
    assert!(page.contains(&format!("{link}<code>not_found</code></a>")) && !page.contains(&format!("{link}404</a>")));
}

#[tokio::test]
async fn page_uses_words_of_the_trade() {
    let page = page().await.to_lowercase();
    for word in ["answer", "clamped", "bare", "asked", "please", "successfully", "digest"] {
        assert!(!page.contains(word), "{word}");
    }
}

#[tokio::test]
async fn headings_link_to_themselves_and_have_stable_ids() {
    let page = page().await;
    for id in ["quick-start", "errors", "listCourses", "listCourses-parameters", "getMe-responses", "formats"] {
        assert!(page.contains(&format!(" id=\"{id}\"><a href=\"#{id}\">")), "{id}");
    }
    assert!(page.contains("id=\"getCourse-request\""));
    assert!(page.contains("id=\"get-courses-slug\""), "links to earlier versions of the page still work");
}

#[tokio::test]
async fn forms_are_hidden_until_the_script_runs() {
    let page = page().await;
    let elements = elements(&page);
    let forms: Vec<_> = elements.iter().filter(|(name, _)| *name == "form").collect();
    assert_eq!(forms.len(), Operation::ALL.len() + 1, "a form for each operation, and one for the key");
    for (name, attributes) in elements.iter().filter(|(_, attributes)| attributes.contains("data-script")) {
        assert!(attributes.ends_with(" hidden"), "{name} {attributes}");
    }
    let panels = elements.iter().filter(|(name, attributes)| *name == "details" && attributes.contains("\"try\""));
    let panels: Vec<_> = panels.map(|(_, attributes)| *attributes).collect();
    assert_eq!(panels, ["class=\"try\" data-script hidden"; Operation::ALL.len()], "each panel is closed at first");
    let (before, _) = page.split_once("data-script hidden").unwrap();
    assert!(!["<input", "<button"].iter().any(|control| before.contains(control)));
    let key = elements.iter().find(|(_, attributes)| attribute(attributes, "id") == Some("api-key")).unwrap().1;
    assert!(
        key.contains("type=\"password\"") && key.contains("autocomplete=\"off\"") && !key.contains("name="),
        "{key}"
    );
}

#[tokio::test]
async fn urls_are_escaped() {
    let page = page_at("/a&'b", "/d&'e", "/d&'e").await;
    assert!(page.contains("href=\"/d&amp;&#39;e/openapi.json\"") && page.contains("data-base=\"/a&amp;&#39;b\""));
    assert!(!page.contains("/a&'b") && !page.contains("/d&'e"));
    assert_eq!(get(&catalogue("/a&'b", "/d&'e"), "/d%26'e").await.status(), 404, "paths are compared without decoding");
}
