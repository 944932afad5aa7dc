//! axe-core, a checker for accessibility problems.
//!
//! It comes from npm and is cached below the target directory. If it is unavailable, a line is printed and the rest of a
//! test continues, unless `CATALOGUE_TEST_REQUIRE` names `axe`.

use std::fs;

use serde_json::Value;

use crate::page::Page;
use crate::tools::{npm_packages, or_skip_unless};

const MANIFESTS: [(&str, &str); 3] = [
    ("package.json", include_str!("axe/package.json")),
    ("package-lock.json", include_str!("axe/package-lock.json")),
    (".npmrc", include_str!("axe/.npmrc")),
];

/// Script that returns each violation with its elements.
const VIOLATIONS: &str = "axe.run().then(({ violations }) => violations.map(
  ({ id, help, nodes }) => [id, help, ...nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`)]))";

/// Source of the library, to be run in a page.
pub(crate) struct Axe(String);

impl Axe {
    pub(crate) fn install() -> Option<Self> {
        let packages = or_skip_unless("axe", npm_packages("axe", &MANIFESTS))?;
        Some(Self(fs::read_to_string(packages.join("node_modules/axe-core/axe.min.js")).unwrap()))
    }

    /// Returns the violations on the page in its current state.
    pub(crate) fn violations(&self, page: &mut Page) -> Value {
        if page.evaluate("typeof axe") == "undefined" {
            page.evaluate(&format!("{}; 0", self.0));
        }
        page.evaluate(VIOLATIONS)
    }
}

#[test]
fn axe_reports_missing_alt_text() {
    let (Some(axe), Some(mut page)) = (Axe::install(), Page::fresh()) else { return };
    page.evaluate("document.body.append(document.createElement('img'))");
    assert!(axe.violations(&mut page).to_string().contains("image-alt"));
}
