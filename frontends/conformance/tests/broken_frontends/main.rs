//! The suite can fail: for each of its cases, at least one frontend with one flaw is caught, by the case that names the
//! rule which the flaw breaks.

mod broken;

mod answers;
mod heads;
mod methods;
mod paths;
mod queries;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use catalogue_frontend_conformance::{Server, cases};

use broken::Broken;

/// Makes a test of each flaw: a frontend that has it fails in that case, and the message holds those words of the rule.
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

        /// Which cases caught a flaw.
        pub(crate) const CAUGHT_BY: &[(&str, &str)] = &[$((stringify!($topic), stringify!($case))),*];
    };
}
use flaws;

fn assert_caught(rule: &str, case: impl FnOnce()) {
    let panic = catch_unwind(AssertUnwindSafe(case)).expect_err("the flaw was not caught");
    let message = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    let message = message.expect("a message");
    assert!(message.contains(rule), "caught for another reason than {rule:?}: {message}");
}

#[test]
fn every_case_catches_a_flaw() {
    let caught_by = [answers::CAUGHT_BY, heads::CAUGHT_BY, methods::CAUGHT_BY, paths::CAUGHT_BY, queries::CAUGHT_BY];
    let caught_by: BTreeSet<_> = caught_by.into_iter().flatten().copied().collect();
    assert_eq!(caught_by, cases().collect::<BTreeSet<_>>());
}

/// What is caught is the flaw, not what carries it.
mod without_a_flaw {
    async fn fixture(catalogue: catalogue_frontend_conformance::Catalogue) -> super::Server {
        super::Broken::new().serve(catalogue).await
    }

    catalogue_frontend_conformance::tests!(fixture);
}

/// What a server was declared to do otherwise.
mod exceptions {
    use catalogue_frontend_conformance::{Protocol, query, run};

    use super::{Broken, assert_caught};

    const CASE: &str = "query::repeated_parameters_are_kept";

    /// Runs the case over a frontend that refuses repeated parameters by itself with 422, or has no flaw.
    fn run_with_exception(case: &str, status: impl Into<Option<u16>>, flawed: bool) {
        let status = status.into();
        let fixture = async |catalogue| {
            let refused = move |query: &str| flawed && query.matches("limit").count() > 1;
            let broken = Broken::refuses(422, move |head| head.uri.query().is_some_and(refused));
            broken.serve(catalogue).await.except(case, status)
        };
        run(CASE, Protocol::Http1, fixture, query::repeated_parameters_are_kept);
    }

    #[test]
    fn one_that_is_declared_is_allowed() {
        run_with_exception(CASE, 422, true);
    }

    #[test]
    fn one_that_is_not_true_is_caught() {
        assert_caught("nothing is otherwise", || run_with_exception(CASE, 400, false));
    }

    #[test]
    fn one_with_another_status_is_caught() {
        assert_caught("is 422 and not 400", || run_with_exception(CASE, 400, true));
    }

    #[test]
    fn one_without_an_answer_is_caught_where_there_is_one() {
        assert_caught("is 422 and not none", || run_with_exception(CASE, None, true));
    }

    #[test]
    fn one_of_another_case_allows_nothing() {
        let other = "query::empty_values_are_kept";
        assert_caught("the status is 422 and not 400", || run_with_exception(other, 422, true));
    }

    #[test]
    fn one_of_no_case_is_refused() {
        assert_caught("there is no case", || run_with_exception("query::nothing", 422, true));
    }
}
