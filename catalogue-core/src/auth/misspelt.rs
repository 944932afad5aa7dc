//! A granted scope that opens nothing here, and looks as if it was meant to, is told of once.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use super::scope::{Scope, Scopes};

/// How many changed characters are a slip.
const SLIP: usize = 2;
/// How many names this process tells of: those who name scopes cannot fill the log.
const MOST: usize = 16;

/// How many names each thread looks at.
const LOOKS: usize = 64;

static TOLD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

thread_local! {
    /// What this thread has looked at. Identities are made for requests, so a look must not be repeated.
    static SEEN: RefCell<BTreeSet<String>> = const { RefCell::new(BTreeSet::new()) };
}

/// Warns of scopes that look like misspelt ones of section 5.4. Those of section 5.4 cost nothing.
pub(super) fn warn_of(granted: &Scopes) {
    for scope in granted.iter().filter(|scope| matches!(scope, Scope::Other(_))) {
        let name = scope.name();
        if SEEN.with_borrow_mut(|seen| is_new(seen, LOOKS, name))
            && let Some(meant) = meant(name)
            && is_new(&mut TOLD.lock().unwrap_or_else(PoisonError::into_inner), MOST, name)
        {
            tracing::warn!(scope = name, "a granted scope opens nothing here; where {meant} is meant, write it so");
        }
    }
}

/// The scope of section 5.4 that `name` looks like, also with its words the other way round.
fn meant(name: &str) -> Option<&'static str> {
    let names = Scope::DEFINED.iter().map(|(scope, _)| scope.name());
    names.into_iter().find(|defined| {
        let is_near = |name: &str| name.len().abs_diff(defined.len()) <= SLIP && distance(name, defined) <= SLIP;
        let name = name.to_ascii_lowercase();
        let words = name.split_once(|character: char| !character.is_ascii_alphanumeric());
        is_near(&name) || words.is_some_and(|(one, other)| is_near(&format!("{other}:{one}")))
    })
}

/// Notes the name, and says whether it was not there; a full set takes none.
fn is_new(names: &mut BTreeSet<String>, most: usize, name: &str) -> bool {
    names.len() < most && !names.contains(name) && names.insert(name.to_owned())
}

/// How many bytes have to be put in, left out or replaced to make the one of the other.
fn distance(one: &str, other: &str) -> usize {
    let mut row: Vec<_> = (0..=other.len()).collect();
    for (line, byte) in one.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, expected) in other.bytes().enumerate() {
            let replaced = diagonal + usize::from(byte != expected);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_known_by_what_was_meant() {
        for (name, defined) in [
            ("read:course", "read:courses"),
            ("read:coruses", "read:courses"),
            ("Read:Courses", "read:courses"),
            ("read.courses", "read:courses"),
            ("readcourses", "read:courses"),
            ("courses:read", "read:courses"),
            ("course_read", "read:courses"),
            ("read:profiles", "read:profile"),
            ("profile.read", "read:profile"),
        ] {
            assert_eq!(meant(name), Some(defined), "{name}");
        }
    }

    #[test]
    fn a_scope_of_the_hosts_own_is_none() {
        for name in ["", ":", "read", "courses", "write:courses", "read:modules", "read:all", "admin", "re\u{e4}d"] {
            assert_eq!(meant(name), None, "{name}");
        }
    }

    #[test]
    fn the_distance_is_the_fewest_changes() {
        for (one, other, changes) in
            [("", "", 0), ("", "abc", 3), ("abc", "", 3), ("kitten", "sitting", 3), ("ab", "ba", 2)]
        {
            assert_eq!(distance(one, other), changes, "{one} {other}");
        }
    }

    #[test]
    fn each_name_is_told_once_and_few_at_all() {
        let mut told = BTreeSet::new();
        assert!(is_new(&mut told, MOST, "one") && !is_new(&mut told, MOST, "one"));
        let names: Vec<_> = (0..MOST).map(|number| number.to_string()).collect();
        assert_eq!(names.iter().filter(|name| is_new(&mut told, MOST, name)).count(), MOST - 1);
    }
}
