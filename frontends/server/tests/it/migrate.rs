//! `catalogue migrate`

use crate::program::Place;

#[test]
fn says_from_which_version_to_which() {
    let place = Place::new();
    let made = place.run("migrate --json").json();
    assert_eq!((made.as_object().unwrap().len(), &made["from"]), (2, &0.into()));
    let again = place.run("migrate --json").json();
    assert_eq!((&again["from"], &again["to"]), (&made["to"], &made["to"]));
    assert!(place.run("migrate").succeeds().contains("up to date"));
    assert!(place.run("migrate --database sqlite:new.db").succeeds().contains("new database"));
    assert_eq!(place.export(), "");
}
