//! Queries reach the catalogue unchanged.

use crate::Frontend;

const LIST: &str = "/api/v1/courses";

async fn query(frontend: &Frontend, rule: &str, status: u16, query: &str) {
    frontend.assert_matches_core(rule, status, frontend.get(format!("{LIST}?{query}"))).await;
}

/// One parameter.
pub async fn query_is_preserved(frontend: &Frontend) {
    query(frontend, "The query reaches the catalogue.", 200, "limit=1").await;
}

/// Paging through the whole list by the cursors in the responses.
pub async fn paging_matches_core(frontend: &Frontend) {
    let rule = "All parameters reach the catalogue.";
    frontend.assert_pagination_matches(rule, &format!("{LIST}?limit=3"), |target| frontend.get(target)).await;
}

/// Only the catalogue refuses a repeated parameter.
pub async fn repeated_parameters_are_preserved(frontend: &Frontend) {
    query(frontend, "A repeated parameter stays repeated.", 400, "limit=1&limit=2").await;
}

/// A question mark with nothing after it.
pub async fn empty_query_is_accepted(frontend: &Frontend) {
    query(frontend, "An empty query is answered like none.", 200, "").await;
}

/// An empty value differs from a missing one.
pub async fn empty_values_are_preserved(frontend: &Frontend) {
    let rule = "An empty value reaches the catalogue as one.";
    query(frontend, rule, 400, "limit=").await;
    query(frontend, rule, 400, "&&limit").await;
}

/// A plus means a space in a query, and only the catalogue may decode it.
pub async fn plus_is_preserved(frontend: &Frontend) {
    query(frontend, "A plus reaches the catalogue.", 400, "limit=+5").await;
}

/// An escaped separator is not a separator.
pub async fn escaped_separators_are_preserved(frontend: &Frontend) {
    let rule = "A query is decoded by the catalogue alone.";
    query(frontend, rule, 400, "limit=1%26limit=2").await;
    query(frontend, rule, 400, "limit%3D5=&limit=0").await;
    query(frontend, rule, 200, "x=%26limit=0").await;
}

/// Names may be escaped too.
pub async fn escaped_names_are_preserved(frontend: &Frontend) {
    query(frontend, "A query's names may be escaped.", 200, "%6Cimit=1").await;
}

/// Escapes need not be UTF-8, and may be invalid.
pub async fn malformed_escapes_are_preserved(frontend: &Frontend) {
    let rule = "Odd escapes in a query are no fault.";
    query(frontend, rule, 200, "x=%ff%zz%&limit=2").await;
}

/// A query may contain characters that end other parts of a URL.
pub async fn slashes_and_question_marks_are_preserved(frontend: &Frontend) {
    let rule = "A query goes on behind a second question mark.";
    query(frontend, rule, 400, "limit=1?limit=2").await;
    query(frontend, rule, 200, "x=/api/v1/me?&limit=1").await;
}

/// Unescaped non-ASCII text.
pub async fn unescaped_text_is_preserved(frontend: &Frontend) {
    query(frontend, "Unescaped text beyond ASCII is kept in a query.", 200, "x=\u{1f917}&limit=1").await;
}

/// RFC 9110 section 4.1 recommends 8,000 octets at least.
pub async fn long_query_is_preserved(frontend: &Frontend) {
    let padding = "a".repeat(8_000 - LIST.len() - "?x=&limit=1".len());
    query(frontend, "A query up to 8,000 octets is kept whole.", 200, &format!("x={padding}&limit=1")).await;
}
