//! The tables of cases, which [`tests!`](crate::tests) expands to tests.

use crate::{bodies, credentials, headers, http1, methods, path, query, responses};

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
        $crate::__common_tests!(Http1, $fixture);
        $crate::__http1_cases!(__tests);
    };
}

/// Like [`tests!`](crate::tests), for the frontend that `fixture` serves over HTTP/2 with prior knowledge. Excludes the cases
/// of [`http1`](crate::http1).
#[macro_export]
macro_rules! http2_tests {
    ($fixture:expr $(,)?) => {
        $crate::__common_tests!(Http2, $fixture);
    };
}

/// Defines the cases of a topic, and a macro that calls another one with their names.
///
/// A case has a rule, and the requests that it sends in order, each with the status that the core returns: the server's
/// responses must equal the core's. `$request` converts what a row contains to a request. Instead of the rows, a case may have
/// a block, which uses `$frontend` and `$rule`.
macro_rules! case_table {
    (
        ($d:tt) $list:ident; $topic:ident, $frontend:ident, $rule:ident, $request:expr;
        $($(#[$meta:meta])* $case:ident: $text:literal => $body:tt;)*
    ) => {
        $(
            #[doc = $text]
            $(#[$meta])*
            pub async fn $case($frontend: &Frontend) {
                let $rule = $text;
                $crate::cases::case_body!($frontend, $rule, $request, $body);
            }
        )*

        /// The names of the cases.
        pub(crate) const CASES: &[&str] = &[$(stringify!($case)),*];

        #[doc(hidden)]
        #[macro_export]
        macro_rules! $list {
            ($d then:ident) => { $crate::$d then! { $topic $($case)* } };
        }
    };
}

macro_rules! case_body {
    ($frontend:ident, $rule:ident, $request:expr, [$(($of:expr, $status:literal)),+ $(,)?]) => {
        let request = $request;
        $($frontend.assert_matches_core($rule, $status, request($of)).await;)+
    };
    ($frontend:ident, $rule:ident, $request:expr, $block:block) => {
        $block
    };
}
pub(crate) use {case_body, case_table};

#[doc(hidden)]
#[macro_export]
macro_rules! __common_tests {
    ($protocol:ident, $fixture:expr) => {
        const __PROTOCOL: $crate::Protocol = $crate::Protocol::$protocol;

        async fn __fixture(catalogue: $crate::Catalogue) -> $crate::Server {
            ($fixture)(catalogue).await
        }

        $crate::__responses_cases!(__tests);
        $crate::__bodies_cases!(__tests);
        $crate::__credentials_cases!(__tests);
        $crate::__headers_cases!(__tests);
        $crate::__methods_cases!(__tests);
        $crate::__path_cases!(__tests);
        $crate::__query_cases!(__tests);
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __tests {
    ($topic:ident $($case:ident)*) => {
        mod $topic {
            $(
                #[::core::prelude::v1::test]
                fn $case() {
                    const NAME: &str = ::core::concat!(::core::stringify!($topic), "::", ::core::stringify!($case));
                    $crate::run(NAME, super::__PROTOCOL, super::__fixture, |frontend| {
                        ::std::boxed::Box::pin($crate::$topic::$case(frontend))
                    });
                }
            )*
        }
    };
}

/// Returns all cases with their topics.
#[doc(hidden)]
pub fn cases() -> impl Iterator<Item = (&'static str, &'static str)> {
    let topics = [
        ("responses", responses::CASES),
        ("bodies", bodies::CASES),
        ("credentials", credentials::CASES),
        ("headers", headers::CASES),
        ("methods", methods::CASES),
        ("path", path::CASES),
        ("query", query::CASES),
        ("http1", http1::CASES),
    ];
    topics.into_iter().flat_map(|(topic, cases)| cases.iter().map(move |case| (topic, *case)))
}

#[cfg(test)]
mod tests {
    #[test]
    fn tables_have_all_cases() {
        for file in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src")).expect("the sources exist") {
            let path = file.expect("a file of the sources").path();
            let source = std::fs::read_to_string(&path).unwrap_or_default();
            assert!(!source.contains("\npub async fn "), "{}: move the case into the table", path.display());
        }
    }
}
