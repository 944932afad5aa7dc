//! Content Security Policies of the reference page and of the settings.

use crate::host::Host;
use crate::page::Page;

/// Script that attempts what the policies forbid, and returns the violated directives when there are as many as `EXPECTED`.
const TRIALS: &str = r"
new Promise((done) => {
  const violated = new Set();
  document.addEventListener('securitypolicyviolation', (event) => {
    violated.add(event.effectiveDirective);
    if (violated.size === EXPECTED) done([...violated].sort().join(' '));
  });
  const add = (name, set) => document.body.appendChild(Object.assign(document.createElement(name), set));
  add('style', { textContent: 'body { color: red }' });
  add('img', { src: 'picture.png' });
  add('base', { href: 'http://elsewhere.test/' });
  add('iframe', { src: location.href });
  fetch('http://elsewhere.test/').catch(() => {});
  const script = document.createElement('script');
  script.append('window.ran = true');
  document.body.append(script);
  if (location.pathname === '/settings') {
    add('form', { action: 'http://elsewhere.test/', method: 'post' }).submit();
    try { document.body.innerHTML = '<b>text</b>'; } catch { }
  }
})";

#[test]
fn browser_enforces_content_security_policies() {
    let host = Host::start();
    let Some(mut page) = host.signed_in("anna") else { return };
    for (path, expected) in [
        // The script never reaches `script-src`: trusted types reject its text first.
        ("/settings", "base-uri connect-src form-action frame-src img-src require-trusted-types-for style-src-elem"),
        ("/docs", "base-uri connect-src frame-src img-src script-src-elem style-src-elem"),
    ] {
        let before = page.complaints().len();
        page.visit(&format!("{}{path}", host.origin));
        assert_eq!(page.complaints().len(), before, "{path} violates its own policy");
        let trials = TRIALS.replace("EXPECTED", &expected.split(' ').count().to_string());
        assert_eq!(page.evaluate(&trials), expected);
        assert_eq!(page.evaluate("window.ran === undefined"), true);
        assert_eq!(page.evaluate("location.pathname"), path);
        assert!(page.complaints().len() > before, "violations appear among the complaints");
    }
}

#[test]
fn settings_cannot_be_framed() {
    let host = Host::start();
    let Some(mut page) = host.signed_in("anna") else { return };
    let open = format!("{}/openapi.json", host.docs());
    let elsewhere = open.replace("127.0.0.1", "localhost");
    for framer in [&open, &elsewhere] {
        assert_eq!(refused_frames(&mut page, framer, &open), 0, "pages without this policy can be framed");
        assert_eq!(refused_frames(&mut page, framer, &host.page("")), 1, "{framer}");
    }
}

/// Returns how often the browser refused to frame `address` in the page `framer`.
fn refused_frames(page: &mut Page, framer: &str, address: &str) -> usize {
    page.visit(framer);
    let before = page.complaints().len();
    page.evaluate(&format!(
        "new Promise((done) => document.body.append(
           Object.assign(document.createElement('iframe'), {{ src: '{address}', onload: () => done(0) }})))"
    ));
    let new = page.complaints().split_off(before);
    new.iter().filter(|complaint| complaint.to_string().contains("frame-ancestors")).count()
}
