//! A granted scope that opens nothing here, and looks as if it was meant to, is told of once.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use super::scope::{Scope, Scopes};

/// How many changed characters are a slip.
const SLIP: usize = 2;
/// How many names this process tells of: those who name scopes cannot fill the log.
const MOST: usize = 16;

static TOLD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Warns of scopes that look like misspelt ones of section 5.4. A credential that has those of section 5.4 alone costs no
/// look at a text.
pub(super) fn warn_of(granted: &Scopes) {
    for scope in granted.iter().filter(|scope| matches!(scope, Scope::Other(_))) {
        let name = scope.name();
        if let Some(meant) = meant(name)
            && is_new(&mut TOLD.lock().unwrap_or_else(PoisonError::into_inner), name)
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

fn is_new(told: &mut BTreeSet<String>, name: &str) -> bool {
    told.len() < MOST && told.insert(name.to_owned())
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
        assert!(is_new(&mut told, "one") && !is_new(&mut told, "one"));
        let names: Vec<_> = (0..MOST).map(|number| number.to_string()).collect();
        assert_eq!(names.iter().filter(|name| is_new(&mut told, name)).count(), MOST - 1);
    }
}
