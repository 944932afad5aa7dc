//! Checks that every case of the suite can fail: it catches at least one storage with a single flaw. Storages without a flaw
//! pass, even those that support less, and a host application that stores less.

mod administration;
mod blocked_reads;
mod broken;
mod courses;
mod host;
mod hosts;
mod keys;
mod races;
mod sign_ins;
mod skipped;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use catalogue_storage_conformance::{CASES, run as run_case};

use broken::Broken;

/// The modules of all cases.
mod cases {
    pub(crate) use catalogue_storage_conformance::{
        administration::*, combined::*, courses::*, credentials::*, keys::*, sign_ins::*,
    };
}

/// Creates a test of each flaw: a storage that has it fails in each of the given cases.
macro_rules! flaws {
    ($($flaw:ident: $storage:expr => $($topic:ident { $($case:ident)* })*;)*) => {
        pub(crate) mod storages {
            use super::*;

            $(pub(crate) fn $flaw() -> Broken {
                $storage
            })*
        }

        $(
            #[test]
            fn $flaw() {
                $($(crate::assert_caught(stringify!($case), || {
                    crate::run_case(crate::cases::$topic::$case(&storages::$flaw()));
                });)*)*
            }
        )*

        /// Each flaw with the cases that catch it.
        pub(crate) const CAUGHT_BY: &[(&str, &[(&str, &[&str])])] =
            &[$((stringify!($flaw), &[$((stringify!($topic), &[$(stringify!($case)),*])),*])),*];
    };
}
use flaws;

/// Asserts that the case fails, and returns its message.
fn caught(case: &str, run: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(run)).expect_err(case);
    let message = panic.downcast_ref::<String>().cloned();
    message.or_else(|| panic.downcast_ref::<&str>().map(|message| (*message).to_owned())).expect("a message")
}

/// Asserts that the case fails because of a rule: these begin with a capital letter, and failed steps of a case do not.
fn assert_caught(case: &str, run: impl FnOnce()) {
    let message = caught(case, run);
    let rule =
        message.split_once(" failed: ").filter(|(kind, _)| kind.starts_with("assertion `")).unwrap_or(("", &message)).1;
    assert!(rule.starts_with(char::is_uppercase), "{case} failed without a rule: {message}");
}

/// Returns the flaws that a case is known to catch.
fn flaws_of(topic: &str, case: &str) -> Vec<&'static str> {
    let all = [administration::CAUGHT_BY, courses::CAUGHT_BY, keys::CAUGHT_BY, races::CAUGHT_BY, sign_ins::CAUGHT_BY];
    let catches = |by: &[(&str, &[&str])]| by.iter().any(|(of, cases)| *of == topic && cases.contains(&case));
    all.into_iter().flatten().filter(|(_, by)| catches(by)).map(|(flaw, _)| *flaw).collect()
}

#[test]
fn every_case_catches_a_flaw() {
    let cases = CASES.iter().flat_map(|(_, topic, cases)| cases.iter().map(move |case| (*topic, *case)));
    let without: Vec<_> = cases.filter(|(topic, case)| flaws_of(topic, case).is_empty()).collect();
    assert!(without.is_empty(), "cases that catch no flaw: {without:#?}");
}

/// Prints these two suites' part of the report of `.ci/suites`.
#[test]
#[expect(clippy::print_stdout, reason = "the report")]
fn report() {
    const SUITES: [(&str, &[&str]); 2] = [
        ("storages", &["courses", "credentials", "combined", "administration"]),
        ("developer settings", &["keys", "sign_ins"]),
    ];
    for (suite, groups) in SUITES {
        let (mut cases_count, mut flaws, mut lines) = (0, BTreeSet::new(), String::new());
        for (group, topic, cases) in CASES.iter().filter(|(group, ..)| groups.contains(group)) {
            for case in *cases {
                let caught = flaws_of(topic, case);
                writeln!(lines, "  {group}::{topic}::{case}: {}", caught.join(", ")).unwrap();
                cases_count += 1;
                flaws.extend(caught);
            }
        }
        println!("{suite}: {cases_count} cases catch {} broken storages\n{lines}", flaws.len());
    }
    let groups = SUITES.into_iter().flat_map(|(_, groups)| groups).collect::<BTreeSet<_>>();
    assert_eq!(groups, CASES.iter().map(|(group, ..)| group).collect());
}

/// The wrapper without a flaw passes.
mod without_a_flaw {
    catalogue_storage_conformance::tests!(|| async { (super::Broken::new(), ()) });
}

/// A storage may push more rows than requested.
mod with_extra_rows {
    use crate::broken::Broken;
    use crate::courses::{own, position};

    async fn fixture() -> Broken {
        Broken::new().list_courses(|memory, account, request, rows| {
            for course in own(memory, account) {
                if request.after.as_ref().is_none_or(|after| position(&course) < *after) {
                    let _ = rows.push(catalogue_storage_conformance::sample::row(&course), || position(&course));
                }
            }
            crate::broken::run(catalogue_core::storage::CourseStorage::revision(memory, account))
        })
    }

    catalogue_storage_conformance::course_storage_tests!(fixture);
}

/// A storage may lack revocations of signed tokens, if it refuses to revoke one.
mod without_revocations {
    use catalogue_core::storage::{StorageError, StorageErrorKind};

    use crate::broken::Broken;

    async fn fixture() -> (Broken, ()) {
        let storage = Broken::new().revoked(|revoked| *revoked = None);
        (storage.revoke_tokens(|_, _, _, _| Err(StorageError::new(StorageErrorKind::Other, "unsupported"))), ())
    }

    catalogue_storage_conformance::tests!(fixture);
}

/// A storage may lack revisions.
mod without_revisions {
    use crate::broken::Broken;

    async fn fixture() -> (Broken, ()) {
        let storage =
            Broken::new().current_revision(|revision| *revision = None).page_revision(|revision| *revision = None);
        let storage = storage.course(|found| found.revision = None);
        (storage.credential(|found| found.iter_mut().for_each(|found| found.revision = None)), ())
    }

    catalogue_storage_conformance::tests!(fixture);
}
