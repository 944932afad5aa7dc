//! Flaws with queries.

use percent_encoding::percent_decode_str;

use crate::broken::Broken;
use crate::flaws;

/// Replaces the query by the result of `alter`.
fn query(alter: impl Fn(&str) -> String + Send + Sync + 'static) -> Broken {
    Broken::target(move |target| match target.split_once('?') {
        Some((path, query)) => format!("{path}?{}", alter(query)),
        None => target.to_owned(),
    })
}

/// Keeps only those query parameters for which `keep` returns `true`.
fn parameters(keep: impl Fn(&[&str], &str) -> bool + Send + Sync + 'static) -> Broken {
    query(move |query| {
        let mut retained = Vec::new();
        for parameter in query.split('&') {
            if keep(&retained, parameter) {
                retained.push(parameter);
            }
        }
        retained.join("&")
    })
}

fn name(parameter: &str) -> &str {
    parameter.split('=').next().unwrap()
}

flaws! {
    query_is_dropped: Broken::target(|target| target.split('?').next().unwrap().to_owned())
        => query::query_is_preserved, "The query reaches";
    only_first_parameter_is_kept: parameters(|retained, _| retained.is_empty())
        => query::paging_matches_core, "All parameters reach";
    repeated_parameters_are_dropped: parameters(|retained, parameter| retained.iter().all(|other| name(other) != name(parameter)))
        => query::repeated_parameters_are_preserved, "stays repeated";
    empty_query_is_refused: Broken::refuses(400, |head| head.uri.query() == Some(""))
        => query::empty_query_is_accepted, "An empty query";
    empty_values_are_dropped: parameters(|_, parameter| !parameter.ends_with('='))
        => query::empty_values_are_preserved, "An empty value";
    names_without_value_are_dropped: parameters(|_, parameter| parameter.contains('='))
        => query::empty_values_are_preserved, "An empty value";
    leading_plus_is_trimmed: query(|query| query.replace("=+", "=")) => query::plus_is_preserved, "A plus reaches";
    query_is_decoded_early: query(|query| percent_decode_str(query).decode_utf8_lossy().into_owned())
        => query::escaped_separators_are_preserved, "Only the catalogue decodes";
    escaped_names_are_dropped: parameters(|_, parameter| ["limit", "cursor"].contains(&name(parameter)))
        => query::escaped_names_are_preserved, "names may be escaped";
    non_utf8_query_is_dropped: query(|query| match percent_decode_str(query).decode_utf8() {
        Ok(_) => query.to_owned(),
        Err(_) => String::new(),
    }) => query::malformed_escapes_are_preserved, "are accepted";
    query_is_cut_at_question_mark: query(|query| query.split('?').next().unwrap().to_owned())
        => query::slashes_and_question_marks_are_preserved, "after a second question mark";
    non_ascii_query_is_refused: Broken::refuses(400, |head| head.uri.query().is_some_and(|query| !query.is_ascii()))
        => query::unescaped_text_is_preserved, "in a query is preserved";
    long_query_is_truncated: query(|query| query.chars().take(4_096).collect())
        => query::long_query_is_preserved, "octets is preserved";
}
