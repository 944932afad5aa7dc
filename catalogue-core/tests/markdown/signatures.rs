//! Signatures of the async methods that host applications implement. Rustdoc shows them as the macro expands them, so each
//! method's doc comment contains the signature as it is written.

use std::fs;

use crate::{files, root};

/// Traits that only the storages of the workspace implement.
const INTERNAL: [&str; 3] = ["AdminStorage", "CourseViews", "Import"];

#[test]
fn async_methods_of_traits_state_their_signature() {
    let mut count = 0;
    for file in files(&root().join("catalogue-core/src"), "rs") {
        let text = fs::read_to_string(&file).unwrap();
        for body in text.split("\npub trait ").skip(1) {
            let body = body.split("\n}").next().unwrap();
            if INTERNAL.iter().any(|name| body.starts_with(name)) {
                continue;
            }
            let mut methods = body.split("\n    async fn ");
            let mut before = methods.next().unwrap();
            for method in methods {
                let signature = method.split([';', '{']).next().unwrap();
                let expected = compact(&format!("Signature: `async fn {signature}`")).replace(",)", ")");
                let doc = before.rsplit("\n\n").next().unwrap().replace("///", "");
                assert!(compact(&doc).contains(&expected), "{}: state the signature {signature}", file.display());
                (before, count) = (method, count + 1);
            }
        }
    }
    assert!(count >= 20, "{count} methods are too few");
}

/// Returns `text` without white space, so that lines may break anywhere.
fn compact(text: &str) -> String {
    text.split_whitespace().collect()
}
