//! Checks that every case of the suite can fail: it catches at least one frontend with a single flaw, which violates the
//! rule of the case.

mod broken;
mod declarations;
mod flaws;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;

use catalogue_frontend_conformance::{Catalogue, Protocol, Server, cases, query, run};

use broken::Broken;
use flaws::{CAUGHT_BY, refuses};

/// Creates a test of each flaw: a frontend that has it fails in each of the given cases, and the messages contain the quoted
/// words, which describe the difference.
macro_rules! tests_of_flaws {
    ($($flaw:ident: $frontend:expr => $($topic:ident::$case:ident),+ $(, $words:literal)?;)*) => {
        $(
            #[test]
            fn $flaw() {
                use catalogue_frontend_conformance as conformance;
                let words = concat!($($words)?);
                $({
                    let case = concat!(stringify!($topic), "::", stringify!($case));
                    let fixture = async |catalogue| $frontend.serve(catalogue).await;
                    let run = || {
                        conformance::run(case, conformance::Protocol::Http1, fixture, |frontend| {
                            Box::pin(conformance::$topic::$case(frontend))
                        })
                    };
                    let message = crate::failure(run);
                    assert!(message.contains(&format!("({case}#")) && message.contains(words), "{message}");
                })+
            }
        )*

        /// Each flaw with a case that catches it.
        pub(crate) const CAUGHT_BY: &[(&str, &str, &str)] =
            &[$($((stringify!($topic), stringify!($case), stringify!($flaw))),+),*];
    };
}
use tests_of_flaws;

/// Returns the message with which a case fails.
fn failure(case: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(case)).expect_err("the flaw was not caught");
    let message = panic.downcast::<String>().map(|message| *message);
    message.or_else(|panic| panic.downcast::<&str>().map(|message| (*message).to_owned())).expect("a message")
}

#[test]
fn every_case_catches_a_flaw() {
    let caught_by: BTreeSet<_> = CAUGHT_BY.iter().map(|(topic, case, _)| (*topic, *case)).collect();
    assert_eq!(caught_by, cases().collect::<BTreeSet<_>>());
}

/// Prints this suite's part of the report of `.ci/suites`.
#[test]
#[expect(clippy::print_stdout, reason = "the report")]
fn report() {
    let flaws: BTreeSet<_> = CAUGHT_BY.iter().map(|(.., flaw)| flaw).collect();
    println!("frontends: {} cases catch {} broken frontends", cases().count(), flaws.len());
    for (topic, case) in cases() {
        let flaws = CAUGHT_BY.iter().filter(|caught| (caught.0, caught.1) == (topic, case));
        let flaws: Vec<_> = flaws.map(|(.., flaw)| *flaw).collect();
        println!("  {topic}::{case}: {}", flaws.join(", "));
    }
}

/// The frontend without a flaw passes.
mod without_a_flaw {
    async fn fixture(catalogue: super::Catalogue) -> super::Server {
        super::Broken::new().serve(catalogue).await
    }

    catalogue_frontend_conformance::tests!(fixture);
}

/// A failing case prints one line, without the backtrace that a panic prints if `RUST_BACKTRACE` is set.
#[test]
fn failure_is_reported_in_one_line() {
    const FAILS: &str = "CATALOGUE_SUITE_FAILS";
    if std::env::var_os(FAILS).is_some() {
        let fixture = async |catalogue| refuses(400, |head| head.uri.query().is_some()).serve(catalogue).await;
        return run("query::query_is_preserved", Protocol::Http1, fixture, |frontend| {
            Box::pin(query::query_is_preserved(frontend))
        });
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    let command =
        command.args(["--exact", "failure_is_reported_in_one_line"]).env(FAILS, "1").env("RUST_BACKTRACE", "full");
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    let line = "The query reaches the catalogue. Sent GET /api/v1/courses?limit=1 (query::query_is_preserved#1), \
                the status is 400 and not 200.";
    assert_eq!(text.lines().filter(|printed| *printed == line).count(), 1, "{text}");
    assert!(!output.status.success() && !text.contains("backtrace") && text.lines().count() < 20, "{text}");
}
