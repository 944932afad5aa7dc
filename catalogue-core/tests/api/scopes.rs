//! A granted scope that looks like a misspelt one of section 5.4 is a warning, once.

use catalogue_core::AccountId;
use catalogue_core::auth::{Identity, Scopes};

use crate::log::logs;

/// What is logged while a host names callers with those scopes.
fn logged(scopes: &[&str]) -> Vec<String> {
    logs(|| {
        for id in ["session_1", "session_2"] {
            let scopes = Scopes::from_names(scopes.iter().copied());
            drop(Identity::session(AccountId::new("acc_1"), id, scopes));
        }
    })
}

#[test]
fn a_misspelt_scope_is_told_once() {
    let lines = logged(&["read:course", "read:everything"]);
    let warning = "WARN message=a granted scope opens nothing here; where read:courses is meant, write it so \
                   scope=\"read:course\"";
    assert_eq!(lines, [warning]);
    assert_eq!(logged(&["read:course"]), [""; 0]);
}

#[test]
fn those_of_the_specification_and_of_a_host_are_not_told_of() {
    assert_eq!(logged(&["read:courses", "read:profile", "write:courses", "admin"]), [""; 0]);
}
