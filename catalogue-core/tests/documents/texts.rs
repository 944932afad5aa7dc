//! Markdown and `llms.txt`.

use catalogue_core::DocumentFormat;

use crate::{json, text, text_at};

#[test]
fn markdown_explains_each_code() {
    let text = text(DocumentFormat::Markdown).split_whitespace().collect::<Vec<_>>().join(" ");
    for (code, status, meaning) in [
        ("unauthorized", 401, "Missing or invalid bearer token."),
        ("insufficient_scope", 403, "Valid token without the required scope."),
        ("not_found", 404, "Resource does not exist or belongs to another account."),
        ("invalid_request", 400, "Invalid request."),
        ("rate_limited", 429, "Rate limit reached."),
        ("internal_error", 500, "Unexpected server error."),
    ] {
        // The code is in the table of codes, and in an endpoint's table of responses.
        let start = meaning.trim_end_matches('.');
        for row in [format!("| `{code}` | {status} | {meaning} |"), format!("| {status} | `{code}` | {start}")] {
            assert!(text.contains(&row), "{row}");
        }
    }
    for row in ["| `scopes` | array of string |", "| `modules` | array of `Module` |", "## Rate limits A deployment"] {
        assert!(text.contains(row), "{row} {text}");
    }
}

#[test]
fn markdown_lists_every_field() {
    let text = text(DocumentFormat::Markdown);
    let document = json(DocumentFormat::OpenApi);
    for name in ["Identity", "CourseListItem", "CourseDetail", "Module", "PaginationMeta"] {
        for field in document["components"]["schemas"][name]["properties"].as_object().unwrap().keys() {
            assert!(text.contains(&format!("| `{field}`")), "{name}.{field}");
        }
    }
}

#[test]
fn index_has_the_llms_txt_format() {
    let text = text(DocumentFormat::Llms);
    let mut lines = text.lines().filter(|line| !line.is_empty());
    assert!(lines.next().unwrap().starts_with("# "));
    assert!(lines.next().unwrap().starts_with("> "));
    let (notes, sections) = text.split_once("\n## ").unwrap();
    assert!(notes.lines().skip(1).all(|line| !line.starts_with('#')), "notes have no headings");
    let mut links = Vec::new();
    for section in sections.split("\n## ") {
        let (_, list) = section.split_once("\n\n").unwrap();
        for line in list.lines().filter(|line| !line.is_empty()) {
            let (title, rest) = line.strip_prefix("- [").unwrap().split_once("](").unwrap();
            let (url, note) = rest.split_once("): ").unwrap();
            assert!(!title.is_empty() && !note.is_empty(), "{line}");
            links.push(url);
        }
    }
    assert_eq!(links, ["/docs/openapi.json", "/docs/openapi-3.0.json", "/docs/openapi.md", "/docs"]);
}

/// The index itself contains all that a caller needs, so that a call requires no other document.
#[test]
fn index_is_sufficient_for_calls() {
    let text = text(DocumentFormat::Llms);
    for piece in [
        "Authorization: Bearer <API_KEY>",
        "`GET /api/v1/courses/{slug}` (getCourse)",
        "`publishedAt` set and `hidden` false",
        "\"nextCursor\": string | null",
        "\"$SERVER/api/v1/courses?limit=",
        "`Retry-After`",
    ] {
        assert!(text.contains(piece), "{piece}");
    }
}

#[test]
fn urls_are_those_of_the_deployment() {
    for (base, docs, call, link) in [
        ("/api/v1", "/docs", "\"$SERVER/api/v1/me\"", "(/docs/openapi.json)"),
        ("/", "/docs", "\"$SERVER/me\"", "(/docs/openapi.json)"),
        ("/api", "/", "\"$SERVER/api/me\"", "(/openapi.json)"),
        (
            "https://a.example/v1",
            "https://b.example/docs",
            "\"https://a.example/v1/me\"",
            "(https://b.example/docs/openapi.json)",
        ),
        ("/a(b)|$x", "/d(e)", "\"$SERVER/a(b)|\\$x/me\"", "(</d(e)/openapi.json>)"),
    ] {
        let text = text_at(DocumentFormat::Markdown, base, docs);
        assert!(text.contains(call), "{base}: {call}");
        assert!(text.contains(link), "{docs}: {link}");
    }
    let index = text_at(DocumentFormat::Llms, "/api", "/");
    assert!(index.contains("[Reference page](/):"), "{index}");
}
