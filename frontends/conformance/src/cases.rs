//! The list of all cases: [`tests!`](crate::tests) expands it to tests, and a unit test compares it with the sources.

/// Expands to a test of each case for the frontend that `fixture` serves over HTTP/1.1.
///
/// `fixture` is the path of an async function, or an equivalent closure, that mounts and serves a catalogue:
/// `async fn(Catalogue) -> Server`.
///
/// The tests are named after the topic and the case, such as `query::repeated_parameters_are_preserved`. They need no
/// dependency except this crate. If one file tests a frontend mounted in two ways, expand the macro in a module for each.
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

/// Defines the cases of a topic as a table: of each case, its rule, its requests in order, and the statuses that the core
/// returns. The server's responses must equal the core's. `$request` converts what a row contains to a request.
macro_rules! case_table {
    (
        $frontend:ident, $request:expr;
        $($(#[$meta:meta])* $case:ident: $rule:literal => $(($of:expr, $status:literal)),+;)*
    ) => {
        $(
            #[doc = $rule]
            $(#[$meta])*
            pub async fn $case($frontend: &Frontend) {
                let request = $request;
                $($frontend.assert_matches_core($rule, $status, request($of)).await;)+
            }
        )*
    };
}
pub(crate) use case_table;

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
            responses {
                documents_are_complete
                non_ascii_text_is_preserved
                compressed_responses_are_preserved
                repeated_headers_are_sent_in_full
                link_header_is_preserved
                failures_use_the_envelope
            }
            bodies {
                body_is_ignored
                body_is_not_parsed
                method_is_refused_despite_a_body
            }
            credentials {
                missing_token_returns_401
                unknown_token_returns_401
                missing_scope_returns_403
                repeated_tokens_return_401
                authentication_scheme_is_preserved
                non_ascii_bytes_are_preserved
                token_in_query_is_ignored
                cookie_identifies_caller
            }
            headers {
                matching_etag_returns_304
                repeated_headers_are_preserved
                empty_headers_are_accepted
                preflight_returns_204
                origin_is_preserved
                request_id_is_returned
                many_headers_are_accepted
                long_header_is_accepted
                non_ascii_bytes_are_accepted
            }
            methods {
                head_has_headers_of_get
                head_of_failure_has_its_headers
                options_lists_methods
                other_methods_return_405
                path_is_checked_before_method
                extension_methods_are_preserved
                method_case_is_preserved
                method_overrides_are_ignored
            }
            path {
                operations_and_documents_are_found
                mount_paths_are_routed
                paths_outside_mounts_return_404
                escaped_text_is_preserved
                escapes_are_decoded_once
                escaped_slash_is_not_a_separator
                escapes_are_not_normalized
                invalid_escapes_are_preserved
                unescaped_text_is_preserved
                reserved_characters_are_preserved
                trailing_slash_is_preserved
                double_slashes_are_preserved
                double_slash_after_mount_is_preserved
                dot_segments_are_preserved
                path_case_is_preserved
                long_path_is_preserved
            }
            query {
                query_is_preserved
                paging_matches_core
                repeated_parameters_are_preserved
                empty_query_is_accepted
                empty_values_are_preserved
                plus_is_preserved
                escaped_separators_are_preserved
                escaped_names_are_preserved
                malformed_escapes_are_preserved
                slashes_and_question_marks_are_preserved
                unescaped_text_is_preserved
                long_query_is_preserved
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
                absolute_targets_are_accepted
                absolute_target_without_path_is_root
                asterisk_returns_404
                connect_returns_404
                http_1_0_is_supported
                chunked_body_is_ignored
                response_does_not_wait_for_body
            }
        }
    };
}

type Topics = &'static [(&'static str, &'static [&'static str])];

const HTTP1_CASES: Topics = crate::__with_cases_of_http1!(__names);
const COMMON_CASES: Topics = crate::__with_cases!(__names);

/// Returns all cases with their topics.
#[doc(hidden)]
pub fn cases() -> impl Iterator<Item = (&'static str, &'static str)> {
    let topics = COMMON_CASES.iter().chain(HTTP1_CASES);
    topics.flat_map(|(topic, cases)| cases.iter().map(move |case| (*topic, *case)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the names of the cases in every source file, by the file's name: public async functions, and names in tables.
    fn cases_of_the_sources() -> Vec<(String, String)> {
        let mut found = Vec::new();
        for file in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src")).expect("the sources exist") {
            let path = file.expect("a file of the sources").path();
            if path.is_dir() {
                continue;
            }
            let topic = path.file_stem().expect("a name").to_str().expect("an ASCII name").to_owned();
            let source = std::fs::read_to_string(&path).expect("a source is UTF-8");
            let functions = source.lines().filter_map(|line| line.strip_prefix("pub async fn ")?.split_once('('));
            let rows = source.lines().filter_map(|line| line.strip_prefix("    ")?.split_once(": \""));
            let rows =
                rows.filter(|(name, _)| name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_')));
            found.extend(functions.chain(rows).map(|(name, _)| (topic.clone(), name.to_owned())));
        }
        found.sort();
        found
    }

    #[test]
    fn case_list_equals_cases_of_sources() {
        let mut listed: Vec<_> = cases().map(|(topic, case)| (topic.to_owned(), case.to_owned())).collect();
        listed.sort();
        assert_eq!(listed, cases_of_the_sources());
    }
}
