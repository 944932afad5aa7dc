//! The Content Security Policy of the settings, and that the browser keeps it.

use super::host::{FRAMER, Host};
use crate::page::Page;

/// Tries what the policy forbids, and gives what the browser says was violated.
const TRIALS: &str = r"
new Promise((done) => {
  const violated = new Set();
  document.addEventListener('securitypolicyviolation', (event) => {
    violated.add(event.effectiveDirective);
    if (violated.size === 7) done([...violated].sort().join(' '));
  });
  const add = (name, set) => document.body.appendChild(Object.assign(document.createElement(name), set));
  add('style', { textContent: 'body { color: red }' });
  add('img', { src: '/settings/picture.png' });
  add('base', { href: 'http://elsewhere.test/' });
  add('iframe', { src: '/settings' });
  fetch('http://elsewhere.test/').catch(() => {});
  add('form', { action: 'http://elsewhere.test/', method: 'post' }).submit();
  const script = document.createElement('script');
  script.append('window.ran = true');
  document.body.append(script);
  try { document.body.innerHTML = '<b>text</b>'; } catch { }
})";

#[test]
fn the_browser_keeps_the_policy() {
    let host = Host::start();
    let Some(mut page) = host.signed_in("anna") else { return };
    assert!(page.complaints().is_empty(), "{:?}", page.complaints());
    let violated = page.evaluate(TRIALS);
    // The script does not come as far as `script-src`: its text is no trusted one.
    assert_eq!(violated, "base-uri connect-src form-action frame-src img-src require-trusted-types-for style-src-elem");
    assert_eq!(page.evaluate("window.ran === undefined && location.pathname === '/settings'"), true);
}

#[test]
fn nobody_has_the_settings_in_a_frame() {
    let host = Host::start();
    let Some(mut page) = host.signed_in("anna") else { return };
    let elsewhere = host.origin.replace("127.0.0.1", "localhost");
    for framer in [&host.origin, &elsewhere] {
        let open = format!("{}/docs/openapi.json", host.origin);
        assert_eq!(framed(&mut page, framer, &open), 0, "what may be framed is");
        assert_eq!(framed(&mut page, framer, &host.page("")), 1, "{framer}");
    }
}

/// How often the browser complained while a page of that origin framed an address.
fn framed(page: &mut Page, framer: &str, address: &str) -> usize {
    let before = page.complaints().len();
    page.visit(&format!("{framer}{FRAMER}?{address}"));
    let new = page.complaints().split_off(before);
    new.iter().filter(|complaint| complaint.to_string().contains("frame-ancestors")).count()
}
