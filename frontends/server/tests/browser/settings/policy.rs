//! Content Security Policy of the settings.

use super::host::{FRAMER, Host};
use crate::page::Page;

/// Script that attempts what the policy forbids, and returns the violated directives.
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
fn browser_enforces_content_security_policy() {
    let host = Host::start();
    let Some(mut page) = host.signed_in("anna") else { return };
    assert!(page.complaints().is_empty(), "{:?}", page.complaints());
    let violated = page.evaluate(TRIALS);
    // The script never reaches `script-src`: trusted types reject its text first.
    assert_eq!(violated, "base-uri connect-src form-action frame-src img-src require-trusted-types-for style-src-elem");
    assert_eq!(page.evaluate("window.ran === undefined && location.pathname === '/settings'"), true);
}

#[test]
fn settings_cannot_be_framed() {
    let host = Host::start();
    let Some(mut page) = host.signed_in("anna") else { return };
    let elsewhere = host.origin.replace("127.0.0.1", "localhost");
    for framer in [&host.origin, &elsewhere] {
        let open = format!("{}/docs/openapi.json", host.origin);
        assert_eq!(refused_frames(&mut page, framer, &open), 0, "pages without this policy can be framed");
        assert_eq!(refused_frames(&mut page, framer, &host.page("")), 1, "{framer}");
    }
}

/// Returns how often the browser refused to frame `address` in a page of the origin `framer`.
fn refused_frames(page: &mut Page, framer: &str, address: &str) -> usize {
    let before = page.complaints().len();
    page.visit(&format!("{framer}{FRAMER}?{address}"));
    let new = page.complaints().split_off(before);
    new.iter().filter(|complaint| complaint.to_string().contains("frame-ancestors")).count()
}
