//! Content Security Policy of the page.

use crate::site::Site;

/// Script that attempts what the policy forbids, and returns the violated directives.
const TRIALS: &str = r"
new Promise((done) => {
  const violated = [];
  document.addEventListener('securitypolicyviolation', (event) => {
    violated.push(event.effectiveDirective);
    if (violated.length === 6) done(violated.sort().join(' '));
  });
  const add = (name, set) => document.body.append(Object.assign(document.createElement(name), set));
  add('script', { textContent: 'window.ran = true' });
  add('style', { textContent: 'body { color: red }' });
  add('img', { src: '/docs/picture.png' });
  add('base', { href: 'http://elsewhere.test/' });
  add('iframe', { src: '/docs' });
  fetch('http://elsewhere.test/').catch(() => {});
})";

#[test]
fn browser_enforces_content_security_policy() {
    let site = Site::start("");
    let Some(mut page) = site.browser() else { return };
    page.visit(&format!("{}/docs", site.origin()));
    assert!(page.complaints().is_empty(), "{:?}", page.complaints());
    let violated = page.evaluate(TRIALS);
    assert_eq!(violated, "base-uri connect-src frame-src img-src script-src-elem style-src-elem");
    assert_eq!(page.evaluate("window.ran === undefined"), true);
    assert!(!page.complaints().is_empty(), "violations appear among the complaints");
}
