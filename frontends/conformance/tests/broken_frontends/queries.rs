//! Flaws with queries.

use percent_encoding::percent_decode_str;

use crate::broken::Broken;
use crate::flaws;

/// The query becomes what `alter` makes of it.
fn query(alter: impl Fn(&str) -> String + Send + Sync + 'static) -> Broken {
    Broken::target(move |target| match target.split_once('?') {
        Some((path, query)) => format!("{path}?{}", alter(query)),
        None => target.to_owned(),
    })
}

/// Only those parameters of the query are left.
fn parameters(keep: impl Fn(&[&str], &str) -> bool + Send + Sync + 'static) -> Broken {
    query(move |query| {
        let mut kept = Vec::new();
        for parameter in query.split('&') {
            if keep(&kept, parameter) {
                kept.push(parameter);
            }
        }
        kept.join("&")
    })
}

fn name(parameter: &str) -> &str {
    parameter.split('=').next().unwrap()
}

flaws! {
    target_from_the_path_alone: Broken::target(|target| target.split('?').next().unwrap().to_owned())
        => query::a_query_is_kept, "The query reaches";
    first_parameter_alone: parameters(|kept, _| kept.is_empty())
        => query::a_walk_ends_as_it_does_in_the_core, "All parameters reach";
    parameters_by_name: parameters(|kept, parameter| kept.iter().all(|other| name(other) != name(parameter)))
        => query::repeated_parameters_are_kept, "stays repeated";
    bare_question_marks_refused: Broken::refuses(400, |head| head.uri.query() == Some(""))
        => query::an_empty_query_is_no_fault, "An empty query";
    empty_values_dropped: parameters(|_, parameter| !parameter.ends_with('='))
        => query::empty_values_are_kept, "An empty value";
    names_alone_dropped: parameters(|_, parameter| parameter.contains('='))
        => query::empty_values_are_kept, "An empty value";
    blanks_trimmed: query(|query| query.replace("=+", "=")) => query::a_plus_is_kept, "A plus reaches";
    decoded_before_the_catalogue: query(|query| percent_decode_str(query).decode_utf8_lossy().into_owned())
        => query::escaped_separators_are_kept, "by the catalogue alone";
    literal_names_alone: parameters(|_, parameter| ["limit", "cursor"].contains(&name(parameter)))
        => query::escaped_names_are_kept, "names may be escaped";
    queries_that_are_no_text_dropped: query(|query| match percent_decode_str(query).decode_utf8() {
        Ok(_) => query.to_owned(),
        Err(_) => String::new(),
    }) => query::odd_escapes_are_kept, "no fault";
    cut_at_a_question_mark: query(|query| query.split('?').next().unwrap().to_owned())
        => query::slashes_and_question_marks_are_kept, "behind a second question mark";
    text_beyond_ascii_refused: Broken::refuses(400, |head| head.uri.query().is_some_and(|query| !query.is_ascii()))
        => query::unencoded_text_is_kept, "is kept in a query";
    long_queries_cut: query(|query| query.chars().take(4_096).collect())
        => query::a_long_query_is_kept, "is kept whole";
}
