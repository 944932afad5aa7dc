//! Keyboard navigation: every control can be reached, and the focus is always visible.

use crate::page::Page;

/// Script that returns the accessible name of the focused control.
const NAME: &str = r"
(() => {
  const part = document.activeElement;
  return (part.ariaLabel || part.labels?.[0]?.textContent || part.textContent).trim();
})()";

/// Maximum number of steps, more than any page needs.
const MAX_STEPS: usize = 100;

impl Page {
    /// Presses the tab key until a control whose name begins with `name` has the focus. Asserts that the focus is visible.
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

    /// Moves to the link or button `name`, presses Enter, and waits for the page that it opens.
    #[track_caller]
    pub(crate) fn enter(&mut self, name: &str) {
        self.tab_to(name);
        self.navigate(|page| page.press("Enter", 13));
    }
}
