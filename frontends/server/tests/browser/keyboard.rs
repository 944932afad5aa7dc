//! Reaching every control by keyboard, and seeing where one is.

use crate::page::Page;

/// What the control with the focus is called.
const NAME: &str = r"
(() => {
  const part = document.activeElement;
  return (part.ariaLabel || part.labels?.[0]?.textContent || part.textContent).trim();
})()";

/// More than any page here has.
const MAX_STEPS: usize = 100;

impl Page {
    /// Goes on by the tab key to the control whose name begins so. The focus is seen at each step.
    #[track_caller]
    pub(crate) fn tab_to(&mut self, name: &str) {
        let mut passed = Vec::new();
        for _ in 0..MAX_STEPS {
            let at = self.evaluate(NAME);
            if at.as_str().unwrap().starts_with(name) {
                return;
            }
            passed.push(at);
            self.press("Tab", 9);
            let is_seen = "document.activeElement === document.body
               || getComputedStyle(document.activeElement).outlineStyle !== 'none'";
            assert_eq!(self.evaluate(is_seen), true, "after {passed:?}");
        }
        panic!("{name} is not among {passed:?}");
    }

    /// Follows a link or presses a button that leads to another page.
    #[track_caller]
    pub(crate) fn enter(&mut self, name: &str) {
        self.tab_to(name);
        self.leads(|page| page.press("Enter", 13));
    }
}
