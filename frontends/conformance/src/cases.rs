//! The list of all cases: [`tests!`](crate::tests) expands it to tests, and a unit test compares it with the sources.

/// Expands to a test of each case for the frontend that `fixture` serves over HTTP/1.1.
///
/// `fixture` is the path of an async function, or an equivalent closure, that mounts and serves a catalogue:
/// `async fn(Catalogue) -> Server`.
///
/// The tests are named after the topic and the case, such as `query::repeated_parameters_are_kept`. The manifest needs only
/// this crate. If one file tests a frontend mounted in two ways, give each its own module.
#[macro_export]
macro_rules! tests {
    ($fixture:expr $(,)?) => {
        $crate::__fixture!(Http1, $fixture);
        $crate::__with_cases!(__tests);
        $crate::__with_cases_of_http1!(__tests);
    };
}

/// Like [`tests!`](crate::tests), for the frontend that `fixture` serves over HTTP/2 with prior knowledge. Excludes the cases
/// of [`http1`](crate::http1).
#[macro_export]
macro_rules! http2_tests {
    ($fixture:expr $(,)?) => {
        $crate::__fixture!(Http2, $fixture);
        $crate::__with_cases!(__tests);
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __fixture {
    ($protocol:ident, $fixture:expr) => {
        const __PROTOCOL: $crate::Protocol = $crate::Protocol::$protocol;

        async fn __fixture(catalogue: $crate::Catalogue) -> $crate::Server {
            ($fixture)(catalogue).await
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __tests {
    ($($topic:ident { $($case:ident)* })*) => {
        $(
            mod $topic {
                $(
                    #[::core::prelude::v1::test]
                    fn $case() {
                        const NAME: &str =
                            ::core::concat!(::core::stringify!($topic), "::", ::core::stringify!($case));
                        $crate::run(NAME, super::__PROTOCOL, super::__fixture, $crate::$topic::$case);
                    }
                )*
            }
        )*
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __names {
    ($($topic:ident { $($case:ident)* })*) => {
        &[$((::core::stringify!($topic), &[$(::core::stringify!($case)),*])),*]
    };
}

/// Calls a macro with the cases that apply to every version of HTTP, by topic.
#[doc(hidden)]
#[macro_export]
macro_rules! __with_cases {
    ($then:ident) => {
        $crate::$then! {
            answers {
                documents_arrive_whole
                text_beyond_ascii_arrives_as_it_is
                compressed_answers_are_left_alone
                repeated_headers_are_sent_in_full
                links_are_kept
                failures_are_the_envelope
            }
            bodies {
                a_body_is_ignored
                a_body_is_not_parsed
                a_body_does_not_hide_the_method
            }
            credentials {
                a_missing_token_is_refused
                an_unknown_token_is_refused
                a_missing_scope_is_refused
                repeated_tokens_are_refused
                the_scheme_is_kept
                bytes_beyond_ascii_are_kept
                a_token_in_the_query_is_none
                a_cookie_identifies_its_caller
            }
            headers {
                a_known_tag_is_not_modified
                repeated_headers_are_kept_in_full
                empty_headers_are_no_fault
                a_preflight_is_answered
                the_origin_is_kept
                the_request_id_comes_back
                many_headers_are_kept
                a_long_header_is_kept
                bytes_beyond_ascii_are_no_fault
            }
            methods {
                head_has_the_headers_of_get
                head_of_a_failure_has_its_headers
                options_lists_the_methods
                other_methods_are_not_allowed
                the_path_comes_before_the_method
                extension_methods_are_kept
                the_case_of_a_method_is_kept
                overrides_are_ignored
            }
            path {
                operations_and_documents_are_found
                the_addresses_themselves_are_answered
                what_is_elsewhere_is_not_found
                escaped_text_is_kept
                escapes_are_decoded_once
                an_escaped_slash_is_no_slash
                escapes_are_not_normalised
                broken_escapes_are_kept
                unencoded_text_is_kept
                reserved_characters_are_kept
                a_trailing_slash_is_kept
                doubled_slashes_are_kept
                a_doubled_slash_behind_the_address_is_kept
                dot_segments_are_kept
                case_is_kept
                a_long_path_is_kept
            }
            query {
                a_query_is_kept
                a_walk_ends_as_it_does_in_the_core
                repeated_parameters_are_kept
                an_empty_query_is_no_fault
                empty_values_are_kept
                a_plus_is_kept
                escaped_separators_are_kept
                escaped_names_are_kept
                odd_escapes_are_kept
                slashes_and_question_marks_are_kept
                unencoded_text_is_kept
                a_long_query_is_kept
            }
        }
    };
}

/// Calls a macro with the cases that apply only to HTTP/1, by topic.
#[doc(hidden)]
#[macro_export]
macro_rules! __with_cases_of_http1 {
    ($then:ident) => {
        $crate::$then! {
            http1 {
                absolute_targets_are_understood
                absolute_targets_may_have_no_path
                the_asterisk_is_not_found
                connect_is_not_found
                older_clients_are_answered
                a_chunked_body_is_ignored
                a_body_is_not_waited_for
            }
        }
    };
}

type Topics = &'static [(&'static str, &'static [&'static str])];

const OF_HTTP1: Topics = crate::__with_cases_of_http1!(__names);
const OF_EVERY_VERSION: Topics = crate::__with_cases!(__names);

/// Returns all cases with their topics.
#[doc(hidden)]
pub fn cases() -> impl Iterator<Item = (&'static str, &'static str)> {
    let topics = OF_EVERY_VERSION.iter().chain(OF_HTTP1);
    topics.flat_map(|(topic, cases)| cases.iter().map(move |case| (*topic, *case)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the names of the public async functions of every source file, by the file's name.
    fn cases_of_the_sources() -> Vec<(String, String)> {
        let mut found = Vec::new();
        for file in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src")).expect("the sources are there") {
            let path = file.expect("a file of the sources").path();
            if path.is_dir() {
                continue;
            }
            let topic = path.file_stem().expect("a name").to_str().expect("an ASCII name").to_owned();
            let source = std::fs::read_to_string(&path).expect("a source is UTF-8");
            let names = source.lines().filter_map(|line| line.strip_prefix("pub async fn "));
            found.extend(names.map(|line| (topic.clone(), line.split('(').next().expect("a name").to_owned())));
        }
        found.sort();
        found
    }

    #[test]
    fn the_list_holds_every_case_of_the_sources() {
        let mut listed: Vec<_> = cases().map(|(topic, case)| (topic.to_owned(), case.to_owned())).collect();
        listed.sort();
        assert_eq!(listed, cases_of_the_sources());
    }
}
