//! Checks that every case of the suite can fail: it catches at least one frontend with a single flaw, which violates the
//! rule of the case.

mod broken;

mod declarations;
mod heads;
mod methods;
mod paths;
mod queries;
mod responses;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;

use catalogue_frontend_conformance::{Protocol, Server, cases, query, run};

use broken::Broken;

/// Creates a test of each flaw: a frontend that has it fails in the given case, and the message contains the quoted words.
macro_rules! flaws {
    ($($flaw:ident: $frontend:expr => $topic:ident::$case:ident, $rule:literal;)*) => {
        $(
            #[test]
            fn $flaw() {
                crate::assert_caught($rule, || {
                    use catalogue_frontend_conformance as conformance;
                    let fixture = async |catalogue| $frontend.serve(catalogue).await;
                    let case = concat!(stringify!($topic), "::", stringify!($case));
                    conformance::run(case, conformance::Protocol::Http1, fixture, conformance::$topic::$case);
                });
            }
        )*

        /// Each flaw with the case that catches it.
        pub(crate) const CAUGHT_BY: &[(&str, &str, &str)] =
            &[$((stringify!($topic), stringify!($case), stringify!($flaw))),*];
    };
}
use flaws;

fn assert_caught(rule: &str, case: impl FnOnce()) {
    let panic = catch_unwind(AssertUnwindSafe(case)).expect_err("the flaw was not caught");
    let message = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    let message = message.expect("a message");
    assert!(message.contains(rule), "caught for another reason than {rule:?}: {message}");
}

fn caught_by() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let all = [responses::CAUGHT_BY, heads::CAUGHT_BY, methods::CAUGHT_BY, paths::CAUGHT_BY, queries::CAUGHT_BY];
    all.into_iter().flatten().copied()
}

#[test]
fn every_case_catches_a_flaw() {
    let caught_by: BTreeSet<_> = caught_by().map(|(topic, case, _)| (topic, case)).collect();
    assert_eq!(caught_by, cases().collect::<BTreeSet<_>>());
}

/// Prints this suite's part of the report of `.ci/suites`.
#[test]
#[expect(clippy::print_stdout, reason = "the report")]
fn report() {
    println!("frontends: {} cases catch {} broken frontends", cases().count(), caught_by().count());
    for (topic, case) in cases() {
        let flaws = caught_by().filter(|caught| (caught.0, caught.1) == (topic, case));
        let flaws: Vec<_> = flaws.map(|(.., flaw)| flaw).collect();
        println!("  {topic}::{case}: {}", flaws.join(", "));
    }
}

/// The frontend without a flaw passes.
mod without_a_flaw {
    async fn fixture(catalogue: catalogue_frontend_conformance::Catalogue) -> super::Server {
        super::Broken::new().serve(catalogue).await
    }

    catalogue_frontend_conformance::tests!(fixture);
}

/// A failing case prints one line, without the backtrace that a panic prints if `RUST_BACKTRACE` is set.
#[test]
fn failure_is_reported_in_one_line() {
    const FAILS: &str = "CATALOGUE_SUITE_FAILS";
    if std::env::var_os(FAILS).is_some() {
        let fixture = async |catalogue| Broken::refuses(400, |head| head.uri.query().is_some()).serve(catalogue).await;
        return run("query::query_is_preserved", Protocol::Http1, fixture, query::query_is_preserved);
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
