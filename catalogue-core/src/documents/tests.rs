//! No document duplicates what the code defines: a change of a bound, a scope, a code or a status at its definition
//! changes every document.

use std::fs;
use std::path::Path;

use super::DocumentFormat;
use super::about::{About, Site};
use crate::cursor::MAX_CURSOR_LENGTH;
use crate::error::ErrorCode;
use crate::model::MAX_SLUG_BYTES;
use crate::model::Scope;
use crate::mount_url::MountUrl;
use crate::operation::Operation;
use crate::request_id::MAX_REQUEST_ID_LENGTH;
use crate::storage::Limit;

/// Returns four of the served documents, each with a name.
fn documents() -> [(&'static str, String); 4] {
    let [base, docs] = ["/api/v1", "/docs"].map(|text| MountUrl::parse(text).unwrap());
    let about = About::default();
    let site = Site { base: &base, docs: &docs, about: &about };
    let text = |format: DocumentFormat| format.text(site);
    [
        ("openapi.json", text(DocumentFormat::OpenApi)),
        ("openapi.md", text(DocumentFormat::Markdown)),
        ("llms.txt", text(DocumentFormat::Llms)),
        ("the reference page", text(DocumentFormat::Reference)),
    ]
}

/// Returns bounds that are defined outside the sources of the documents.
fn bounds() -> [usize; 5] {
    [Limit::MAX.get(), Limit::DEFAULT.get(), MAX_CURSOR_LENGTH, MAX_SLUG_BYTES, MAX_REQUEST_ID_LENGTH]
}

/// Collects the source files of the documents, each without its unit tests.
fn sources(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|kind| ["rs", "js", "md"].iter().any(|known| kind == *known))
            && !path.ends_with("tests.rs")
        {
            let text = fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap().to_owned();
            found.push((path.display().to_string(), code));
        }
    }
}

#[test]
fn documents_state_bounds_operations_scopes_and_codes() {
    let [minimum, maximum, default] = [Limit::MIN, Limit::MAX, Limit::DEFAULT].map(Limit::get);
    for (name, document) in documents() {
        // In HTML, code is in elements instead of backticks.
        let plain = document.replace("<code>", "`").replace("</code>", "`");
        assert!(plain.contains(&format!("`limit` is {minimum} to {maximum}, and {default} when")), "{name}");
        // `parameter_bounds_match_the_code` compares the bounds in the schemas.
        let is_json = name == "openapi.json";
        let bounds = [
            format!("{minimum} to {maximum}, default {default}."),
            format!("1 to {MAX_CURSOR_LENGTH} characters."),
            format!("1 to {MAX_SLUG_BYTES} characters."),
        ];
        let squeezed = plain.split_whitespace().collect::<Vec<_>>().join(" ");
        for piece in bounds.iter().filter(|_| !is_json) {
            assert!(squeezed.contains(piece), "{name} lacks {piece}");
        }
        let has_word = |word: &str| plain.contains(&if is_json { format!("\"{word}\"") } else { format!("`{word}`") });
        for &operation in Operation::ALL {
            assert!(plain.contains(operation.spec().path) && plain.contains(operation.id()), "{name} {operation:?}");
        }
        for (scope, _) in Scope::DEFINED {
            assert!(has_word(scope.name()), "{name} {scope}");
        }
        for &error in ErrorCode::ALL {
            assert!(has_word(error.as_str()) && plain.contains(error.status().as_str()), "{name} {error:?}");
        }
    }
}

#[test]
fn document_sources_do_not_duplicate_constants() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/documents"), &mut files);
    assert!(
        ["guide/rules.md", "llms.md", ".js"].iter().all(|end| files.iter().any(|(name, _)| name.ends_with(end)))
            && files.len() > 10,
        "{}",
        files.len()
    );
    let mut words: Vec<String> = Scope::DEFINED.iter().map(|(scope, _)| scope.name().to_owned()).collect();
    words.extend(ErrorCode::ALL.iter().map(|error| error.as_str().to_owned()));
    words
        .extend(Operation::ALL.iter().flat_map(|operation| [operation.id(), operation.spec().path]).map(str::to_owned));
    let statuses = ErrorCode::ALL.iter().map(|error| usize::from(error.status().as_u16()));
    let numbers: Vec<String> = bounds().into_iter().chain(statuses).map(|number| number.to_string()).collect();
    for (file, text) in &files {
        // `/openapi.json` is also the path of a document, which the sources define.
        for word in words.iter().filter(|word| *word != "/openapi.json") {
            let has = |quote: char| text.contains(&format!("{quote}{word}"));
            assert!(!has('"') && !has('`') && !has('\''), "{file} repeats {word}");
        }
        for number in text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
            assert!(!numbers.iter().any(|known| known == number), "{file} repeats {number}");
        }
    }
}
