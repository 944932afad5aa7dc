//! Queries reach the catalogue unchanged.

use crate::Frontend;

const LIST: &str = "/api/v1/courses";

async fn query(frontend: &Frontend, rule: &str, status: u16, query: &str) {
    frontend.assert_matches_core(rule, status, frontend.get(format!("{LIST}?{query}"))).await;
}

/// A query of one parameter reaches the catalogue.
pub async fn query_is_preserved(frontend: &Frontend) {
    query(frontend, "The query reaches the catalogue.", 200, "limit=1").await;
}

/// Paging through the whole list, by the cursors in the responses, returns the core's pages.
pub async fn paging_matches_core(frontend: &Frontend) {
    let rule = "All parameters reach the catalogue.";
    frontend.assert_pagination_matches(rule, &format!("{LIST}?limit=3"), |target| frontend.get(target)).await;
}

/// Only the catalogue refuses a repeated parameter.
pub async fn repeated_parameters_are_preserved(frontend: &Frontend) {
    query(frontend, "A repeated parameter stays repeated.", 400, "limit=1&limit=2").await;
}

/// An empty query, after a question mark, is accepted.
pub async fn empty_query_is_accepted(frontend: &Frontend) {
    query(frontend, "An empty query gets the same response as none.", 200, "").await;
}

/// An empty value differs from a missing one.
pub async fn empty_values_are_preserved(frontend: &Frontend) {
    let rule = "An empty value reaches the catalogue as such.";
    query(frontend, rule, 400, "limit=").await;
    query(frontend, rule, 400, "&&limit").await;
}

/// A plus means a space in a query, and only the catalogue may decode it.
pub async fn plus_is_preserved(frontend: &Frontend) {
    query(frontend, "A plus reaches the catalogue.", 400, "limit=+5").await;
}

/// An escaped separator does not separate parameters.
pub async fn escaped_separators_are_preserved(frontend: &Frontend) {
    let rule = "Only the catalogue decodes a query.";
    query(frontend, rule, 400, "limit=1%26limit=2").await;
    query(frontend, rule, 400, "limit%3D5=&limit=0").await;
    query(frontend, rule, 200, "x=%26limit=0").await;
}

/// Escapes in names of parameters are preserved.
pub async fn escaped_names_are_preserved(frontend: &Frontend) {
    query(frontend, "A query's names may be escaped.", 200, "%6Cimit=1").await;
}

/// Escapes that are invalid or not UTF-8 are preserved.
pub async fn malformed_escapes_are_preserved(frontend: &Frontend) {
    let rule = "Malformed escapes in a query are accepted.";
    query(frontend, rule, 200, "x=%ff%zz%&limit=2").await;
}

/// A query may contain characters that end other parts of a URL.
pub async fn slashes_and_question_marks_are_preserved(frontend: &Frontend) {
    let rule = "A query continues after a second question mark.";
    query(frontend, rule, 400, "limit=1?limit=2").await;
    query(frontend, rule, 200, "x=/api/v1/me?&limit=1").await;
}

/// Unescaped non-ASCII text in a query is preserved.
pub async fn unescaped_text_is_preserved(frontend: &Frontend) {
    query(frontend, "Unescaped non-ASCII text in a query is preserved.", 200, "x=\u{1f917}&limit=1").await;
}

/// A target of 8,000 octets is accepted, as RFC 9110 section 4.1 recommends.
pub async fn long_query_is_preserved(frontend: &Frontend) {
    let padding = "a".repeat(8_000 - LIST.len() - "?x=&limit=1".len());
    query(frontend, "A query of up to 8,000 octets is preserved.", 200, &format!("x={padding}&limit=1")).await;
}
