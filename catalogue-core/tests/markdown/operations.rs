//! Sections of operations in CONTRACT.md, and their rows in the README at the root.

use std::fs;

use catalogue_core::Operation;

use crate::root;

#[test]
fn each_operation_has_a_section_in_the_contract() {
    let contract = fs::read_to_string(root().join("catalogue-core/CONTRACT.md")).unwrap();
    let operations = contract.split("\n## ").find(|section| section.starts_with("4. Operations")).unwrap();
    for operation in Operation::ALL {
        let path = operation.path();
        let (heading, row) = (format!(" GET {path}"), format!("| `{{base_url}}{path}` |"));
        let mut lines = operations.lines();
        let has_section =
            lines.any(|line| line.starts_with("### 4.") && line.ends_with(&heading) || line.starts_with(&row));
        assert!(has_section, "add a section 4.N{heading} to CONTRACT.md");
    }
}

#[test]
fn each_operation_has_a_row_in_the_readme() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    for operation in Operation::ALL {
        let row = format!("| `GET {}", operation.path());
        let is_of = |line: &str| line.strip_prefix(&*row).is_some_and(|rest| rest.starts_with(['`', '?']));
        assert!(readme.lines().any(is_of), "add a row {row}` to the table of operations in README.md");
    }
}
