//! Queries reach the catalogue unchanged.

use crate::Frontend;
use crate::cases::case_table;

const LIST: &str = "/api/v1/courses";

case_table! {
    ($) __query_cases; query, frontend, rule, |query| frontend.get(format!("{LIST}?{query}"));

    query_is_preserved: "The query reaches the catalogue." => [("limit=1", 200)];

    repeated_parameters_are_preserved: "A repeated parameter stays repeated." => [("limit=1&limit=2", 400)];

    empty_query_is_accepted: "An empty query gets the same response as none." => [("", 200)];

    empty_values_are_preserved: "An empty value reaches the catalogue as such." => [
        ("limit=", 400), ("&&limit", 400),
    ];

    /// A plus means a space, and only the catalogue may decode it.
    plus_is_preserved: "A plus reaches the catalogue." => [("limit=+5", 400)];

    /// An escaped separator does not separate parameters.
    escaped_separators_are_preserved: "Only the catalogue decodes a query." => [
        ("limit=1%26limit=2", 400), ("limit%3D5=&limit=0", 400), ("x=%26limit=0", 200),
    ];

    escaped_names_are_preserved: "A query's names may be escaped." => [("%6Cimit=1", 200)];

    malformed_escapes_are_preserved: "Malformed escapes in a query are accepted." => [("x=%ff%zz%&limit=2", 200)];

    /// A query may contain characters that end other parts of a URL.
    slashes_and_question_marks_are_preserved: "A query continues after a second question mark." => [
        ("limit=1?limit=2", 400), ("x=/api/v1/me?&limit=1", 200),
    ];

    unescaped_text_is_preserved: "Unescaped non-ASCII text in a query is preserved." => [
        ("x=\u{1f917}&limit=1", 200),
    ];

    /// RFC 9110 section 4.1 recommends to accept it.
    long_query_is_preserved: "A query of up to 8,000 octets is preserved." => [
        (format!("x={:a<1$}&limit=1", "", 8_000 - LIST.len() - "?x=&limit=1".len()), 200),
    ];

    /// Paging through the whole list, by the cursors in the responses, returns the core's pages.
    paging_matches_core: "All parameters reach the catalogue." => {
        frontend.assert_pagination_matches(rule, &format!("{LIST}?limit=3"), |target| frontend.get(target)).await;
    };
}
