//! Checks that every case of the suite can fail: it catches at least one storage with a single flaw, which violates the
//! rule of the case.

mod broken;
mod imports;
mod memory;

mod accounts;
mod concurrent;
mod credentials;
mod details;
mod keys;
mod lists;
mod revisions;
mod revocations;
mod rotation_and_uses;
mod sign_ins;
mod writes;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use catalogue_storage_conformance::CASES;

use broken::Broken;

/// Creates a test of each flaw: a storage that has it fails in the given case, and the message contains the quoted words of the rule.
macro_rules! flaws {
    ($($flaw:ident: $storage:expr => $group:ident::$topic:ident::$case:ident, $rule:literal;)*) => {
        $(
            #[test]
            fn $flaw() {
                use catalogue_storage_conformance as conformance;
                let storage = $storage;
                crate::assert_caught($rule, || conformance::run(conformance::$group::$topic::$case(&storage)));
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
    let all = [
        accounts::CAUGHT_BY,
        concurrent::CAUGHT_BY,
        credentials::CAUGHT_BY,
        details::CAUGHT_BY,
        keys::CAUGHT_BY,
        lists::CAUGHT_BY,
        revisions::CAUGHT_BY,
        revocations::CAUGHT_BY,
        rotation_and_uses::CAUGHT_BY,
        sign_ins::CAUGHT_BY,
        writes::CAUGHT_BY,
    ];
    all.into_iter().flatten().copied()
}

#[test]
fn every_case_catches_a_flaw() {
    let caught_by: BTreeSet<_> = caught_by().map(|(topic, case, _)| (topic, case)).collect();
    let cases = CASES.into_iter().flatten();
    let cases: BTreeSet<_> =
        cases.flat_map(|(_, topic, cases)| cases.iter().map(move |case| (*topic, *case))).collect();
    assert_eq!(caught_by, cases);
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
        let (mut cases_count, mut flaws_count, mut lines) = (0, 0, String::new());
        let topics = CASES.into_iter().flatten().filter(|(group, ..)| groups.contains(group));
        for (group, topic, case) in
            topics.flat_map(|(group, topic, cases)| cases.iter().map(move |case| (group, topic, case)))
        {
            let flaws = caught_by().filter(|caught| (caught.0, caught.1) == (*topic, *case));
            let flaws: Vec<_> = flaws.map(|(.., flaw)| flaw).collect();
            (cases_count, flaws_count) = (cases_count + 1, flaws_count + flaws.len());
            writeln!(lines, "  {group}::{topic}::{case}: {}", flaws.join(", ")).unwrap();
        }
        println!("{suite}: {cases_count} cases catch {flaws_count} broken storages\n{lines}");
    }
    let groups = SUITES.into_iter().flat_map(|(_, groups)| groups).collect::<BTreeSet<_>>();
    assert_eq!(groups, CASES.iter().flat_map(|group| group.iter().map(|(group, ..)| group)).collect());
}

/// The wrapper without a flaw passes.
mod without_a_flaw {
    catalogue_storage_conformance::tests!(|| async { (super::Broken::new(), ()) });
}

/// A storage may push more rows than requested.
mod with_extra_rows {
    use crate::broken::Broken;
    use crate::lists::all_following;

    async fn fixture() -> Broken {
        Broken::new().list(|memory, account, page, rows| {
            for (item, position) in all_following(memory, account, page) {
                let _ = rows.push(item.row(), || position);
            }
        })
    }

    catalogue_storage_conformance::course_storage_tests!(fixture);
}

/// A storage may lack revocations of signed tokens, if it refuses to revoke one.
mod without_revocations {
    use catalogue_core::storage::{StorageError, StorageErrorKind};

    use crate::broken::Broken;

    async fn fixture() -> (Broken, ()) {
        let storage = Broken::new().revoked(|_, _| None);
        (storage.revoke_tokens(|_, _, _, _| Err(StorageError::new(StorageErrorKind::Other, "unsupported"))), ())
    }

    catalogue_storage_conformance::tests!(fixture);
}

/// A storage may lack revisions.
mod without_revisions {
    use crate::broken::{Broken, credential};

    async fn fixture() -> (Broken, ()) {
        let storage = Broken::new().revision(|_, _| None).credential(|memory, digest| {
            let mut found = credential(memory, digest)?;
            found.revision = None;
            Some(found)
        });
        (storage, ())
    }

    catalogue_storage_conformance::tests!(fixture);
}
