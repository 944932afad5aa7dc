//! Citations of CONTRACT.md in comments and documents: "section 5.5", "decisions R7, R8 and A18", "(A17)". A
//! section after the number of an RFC is not a citation of CONTRACT.md.

use std::collections::BTreeSet;
use std::fs;

use crate::{files, root, without_code};

#[test]
fn every_citation_exists_in_the_contract() {
    let root = root();
    let contract = contract(&fs::read_to_string(root.join("catalogue-core/CONTRACT.md")).unwrap());
    let (mut cited, mut dead) = (0, Vec::new());
    for (extension, prose) in [("rs", comments as fn(&str) -> String), ("md", without_code)] {
        for file in files(&root, extension) {
            let found = citations(&prose(&fs::read_to_string(&file).unwrap()));
            cited += found.len();
            let unknown = found.into_iter().filter(|name| !contract.contains(name));
            dead.extend(unknown.map(|name| format!("{}: {name}", file.strip_prefix(&root).unwrap().display())));
        }
    }
    assert!(cited > 150, "{cited} citations are too few");
    assert!(dead.is_empty(), "CONTRACT.md lacks {dead:#?}");
}

#[test]
fn citations_are_found_in_any_notation() {
    for (text, found) in [
        ("as section 5.5 says.", "5.5"),
        ("Sections 4.2, 2.5 and 8; decisions R7 to R9, A7.", "4.2 2.5 8 R7 R8 R9 A7"),
        ("(sections 5.1 to 5.3, and decision A5)", "5.1 5.2 5.3 A5"),
        ("(A17), (C3, see there) and (decision\nR10).", "A17 C3 R10"),
        ("RFC 9110 section 4.1, RFC 7239, section 4, (RFC 9110 sections 8.8.3 and 13.1.2; decision A14)", "A14"),
        ("a section of it, decisions in general, (UTC), HTTP/2 and 1 section", ""),
    ] {
        assert_eq!(citations(text).join(" "), found, "{text}");
    }
    let code = "let x = \"section 1\"; // section 2\n/// Of decision\n/// R1.\nfn f() {} // and\n//! A1, decision C1";
    assert_eq!(citations(&comments(code)), ["2", "R1", "C1"]);
    let contract = contract("## 5. Five\n\n### 5.5 More\n\n## Requests\n| R1 | x | section 6 |\n");
    assert_eq!(contract.into_iter().collect::<Vec<_>>(), ["5", "5.5", "R1"]);
}

/// Returns the sections and decisions in the text: the numbers at the beginning of headings and of rows.
fn contract(text: &str) -> BTreeSet<String> {
    let lines = text.lines().filter(|line| line.starts_with('#') || line.starts_with("| "));
    let names = lines.filter_map(|line| line.trim_start_matches(['#', '|', ' ']).split(' ').next().map(numbered));
    names.filter(|name| is_section(name) || is_decision(name)).map(str::to_owned).collect()
}

/// Returns the comments of Rust code, each on one line.
fn comments(code: &str) -> String {
    let mut prose = String::new();
    for line in code.lines() {
        match (line.trim_start().strip_prefix("//"), line.split_once(" // ")) {
            (Some(whole), _) => prose.extend([" ", whole.trim_start_matches(['/', '!'])]),
            (None, Some((_, behind))) => prose.extend(["\n\n", behind, "\n\n"]),
            (None, None) => prose.push_str("\n\n"),
        }
    }
    prose
}

/// Returns the citations in the text, in their order.
fn citations(text: &str) -> Vec<String> {
    text.split("\n\n").flat_map(|paragraph| in_words(&paragraph.split_whitespace().collect::<Vec<_>>())).collect()
}

fn in_words(words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let kind = word.trim_start_matches(['(', '*', '"']).to_lowercase();
        match &*kind {
            "section" | "sections" if !follows_rfc(&words[..at]) => list(&words[at + 1..], is_section, &mut found),
            "decision" | "decisions" => list(&words[at + 1..], is_decision, &mut found),
            _ if word.strip_prefix('(').is_some_and(|code| is_decision(numbered(code))) => {
                list(&words[at..], is_decision, &mut found);
            }
            _ => {}
        }
    }
    found
}

fn follows_rfc(before: &[&str]) -> bool {
    before.len() >= 2 && before[before.len() - 2].ends_with("RFC")
}

/// Collects the numbers of the list at the beginning of `words`: "R1", "R1 and R2", "R1, R2 and A3", "R1 to R3".
fn list(words: &[&str], is_one: fn(&str) -> bool, found: &mut Vec<String>) {
    let (mut is_range, mut continues) = (false, true);
    for (index, word) in words.iter().enumerate() {
        match (numbered(word), *word) {
            (_, "and") => continues = true,
            (_, "to") => (is_range, continues) = (true, true),
            (name, word) if continues && is_one(name) && (index == 0 || !word.starts_with('(')) => {
                let last = found.last().filter(|_| is_range);
                let between = last.map_or_else(Vec::new, |last| names_between(last, name));
                found.extend(between);
                found.push(name.to_owned());
                (is_range, continues) = (false, word.ends_with(','));
            }
            _ => return,
        }
    }
}

/// Returns the names between two others: "5.2" and "5.3" for "5.1" and "5.4".
fn names_between(first: &str, last: &str) -> Vec<String> {
    let number = |name: &str| -> (String, u32) {
        let prefix = name.trim_end_matches(|char: char| char.is_ascii_digit());
        (prefix.to_owned(), name[prefix.len()..].parse().unwrap())
    };
    let ((prefix, first), (_, last)) = (number(first), number(last));
    (first + 1..last).map(|number| format!("{prefix}{number}")).collect()
}

/// Returns the beginning of a word that can be a number, without the punctuation around it.
fn numbered(word: &str) -> &str {
    let word = word.trim_start_matches('(');
    let end = word.find(|char: char| !char.is_ascii_alphanumeric() && char != '.').unwrap_or(word.len());
    word[..end].trim_end_matches('.')
}

/// Returns `true` for "4" or "4.2".
fn is_section(name: &str) -> bool {
    name.split('.').all(|part| !part.is_empty() && part.len() <= 2 && part.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns `true` for "R2" or "P12".
fn is_decision(name: &str) -> bool {
    let mut characters = name.chars();
    let letter = characters.next().is_some_and(|char| char.is_ascii_uppercase());
    let digits = characters.as_str();
    letter && is_section(digits) && !digits.contains('.')
}
