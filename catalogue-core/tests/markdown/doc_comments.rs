//! First lines of doc comments, which must name their subject: a hover or an index shows them without the code.

use std::fs;

use crate::{files, root};

/// Words whose referent a hover or an index does not show.
const POINTERS: [&str; 7] = ["The same", "Those", "That", "It", "These", "As above", "So many"];

#[test]
fn no_doc_comment_begins_with_a_pointer() {
    let root = root();
    let (mut count, mut found) = (0, Vec::new());
    for file in files(&root, "rs") {
        let text = fs::read_to_string(&file).unwrap();
        let name = file.strip_prefix(&root).unwrap().display();
        let first_lines = first_lines(&text);
        count += first_lines.len();
        let pointing = first_lines.into_iter().filter(|(_, line)| begins_with_pointer(line));
        found.extend(pointing.map(|(number, line)| format!("{name}:{number}: {line}")));
    }
    assert!(count > 5_000, "{count} doc comments are too few");
    assert!(found.is_empty(), "name the subject: {found:#?}");
}

#[test]
fn pointers_are_detected_only_at_the_beginning() {
    let text = "/// It ends.\n///\n/// Those too.\nfn a() {}\n    //! Its name.\n\n    /// Returns that.\n/// As above\n//// That\n";
    let lines = first_lines(text);
    assert_eq!(lines, [(1, "It ends."), (5, "Its name."), (7, "Returns that.")]);
    assert!(begins_with_pointer("It ends.") && begins_with_pointer("As above") && begins_with_pointer("It's late"));
    assert!(!begins_with_pointer("Its name.") && !begins_with_pointer("Returns that."));
}

/// Returns the first line of each doc comment, with its number.
fn first_lines(text: &str) -> Vec<(usize, &str)> {
    let mut is_inside = false;
    let mut first = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let doc = ["///", "//!"].iter().find_map(|marker| line.trim_start().strip_prefix(marker));
        let doc = doc.filter(|doc| !doc.starts_with('/')).map(str::trim_start);
        if let Some(doc) = doc.filter(|_| !is_inside) {
            first.push((index + 1, doc));
        }
        is_inside = doc.is_some();
    }
    first
}

fn begins_with_pointer(line: &str) -> bool {
    let follows = |rest: &str| !rest.starts_with(|next: char| next.is_alphanumeric());
    POINTERS.iter().any(|pointer| line.strip_prefix(pointer).is_some_and(follows))
}
