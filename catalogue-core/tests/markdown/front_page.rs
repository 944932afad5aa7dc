//! What a newcomer meets first: the README at the root.

use std::fs;

use crate::root;

#[test]
fn it_begins_with_the_two_commands_and_stays_short() {
    let page = fs::read_to_string(root().join("README.md")).unwrap();
    let blocks: Vec<_> = page.split("```").skip(1).step_by(2).take(2).collect();
    assert_eq!(blocks, ["sh\ncargo run --release -- demo\n", "sh\ncargo test --workspace\n"]);
    assert!(page.lines().count() <= 150, "what is more belongs into the README of a package");
}
