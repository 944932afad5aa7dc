//! Reading aids of the reference page: choice of the samples' language, copy buttons, a table of contents that follows the
//! reader, and links that open examples. And the page without scripts.

use serde_json::json;

use crate::host::Host;
use crate::page::Page;

/// Starts a host and opens its reference page in a window of `width`.
fn visit(width: u32) -> Option<(Host, Page)> {
    let (host, mut page) = (Host::start(), Page::fresh()?);
    page.resize(width);
    page.visit(&host.docs());
    Some((host, page))
}

#[test]
fn chosen_language_applies_to_all_samples() {
    let Some((host, mut page)) = visit(1280) else { return };
    let displayed = "[...document.querySelectorAll('.samples summary')].map((part) => part.parentElement)
      .filter((part) => part.open && part.checkVisibility()).map((part) => part.textContent.trim().split('\\n')[0])";
    assert_eq!(page.evaluate(displayed), json!(["Python", "curl", "curl", "curl", "curl"]));
    page.click(".tabs button[aria-label=\"TypeScript: Keep a copy in sync\"]");
    assert_eq!(page.evaluate(displayed), json!(vec!["TypeScript"; 5]));
    page.click(".tabs button[aria-label=\"Ruby: GET /courses\"]");
    assert_eq!(
        page.evaluate(displayed),
        json!(["TypeScript", "Ruby", "Ruby", "Ruby", "Ruby"]),
        "not in the first group"
    );
    assert_eq!(page.evaluate("document.querySelectorAll('.tabs [aria-pressed=true]').length"), 5);
    let sample = page.evaluate("document.querySelector('[data-copy=\"GET /courses in Ruby\"] code').innerText");
    let address = format!("\"{}/api/v1/courses?limit=100\"", host.origin);
    assert!(sample.as_str().unwrap().contains(&address), "the sample contains the page's origin: {sample}");
    page.assert_no_complaints();
}

#[test]
fn copy_button_copies_code_and_announces_it() {
    let Some((host, mut page)) = visit(1280) else { return };
    page.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text; }");
    // The page would clear the announcement after two seconds.
    page.evaluate("window.setTimeout = () => {}");
    for (label, text) in [
        ("step 1", "stty -echo; read -r API_KEY; stty echo; export API_KEY".to_owned()),
        ("the base URL", format!("{}/api/v1", host.origin)),
    ] {
        let button = format!("[data-copy=\"{label}\"] button");
        page.evaluate("document.querySelector('[aria-live]').textContent = ''");
        page.click(&button);
        assert_eq!(page.evaluate("copied"), text);
        for element in ["[aria-live]", &button] {
            assert_eq!(
                page.evaluate(&format!("document.querySelector('{element}').textContent")),
                "Copied",
                "{element}"
            );
        }
    }
    let json = page
        .evaluate("document.querySelector('[data-copy=\"a response to GET /me\"] button').click(), JSON.parse(copied)");
    assert!(json["data"]["userId"].is_string(), "{json}");
    page.assert_no_complaints();
}

#[test]
fn table_of_contents_stays_visible_and_marks_current_section() {
    for width in [1280, 390] {
        let Some((_host, mut page)) = visit(width) else { return };
        let marked = "document.querySelector('.contents a[href^=\"#\"][aria-current]')?.textContent ?? ''";
        assert_eq!(page.evaluate(marked), "", "{width}: the top of the page is above all sections");
        for (id, text) in [("errors", "Errors"), ("listCourses-responses", "GET /courses"), ("formats", "Formats")] {
            let moved = format!(
                "new Promise((done) => {{ document.getElementById('{id}').scrollIntoView();
                   requestAnimationFrame(() => requestAnimationFrame(() => done({marked}))); }})"
            );
            assert_eq!(page.evaluate(&moved), text, "{width}");
            let actual = page.evaluate(
                "{ const box = document.querySelector('header').getBoundingClientRect(); [box.top, box.height] }",
            );
            assert_eq!(actual, json!([0, 56]), "{width}: the header stays, in one line");
        }
        let is_open = "document.querySelector('.contents .level2').checkVisibility()";
        assert_eq!(page.evaluate(is_open), width > 390);
        if width == 390 {
            page.click(".contents summary");
            assert_eq!(page.evaluate(is_open), true);
            let top = page.evaluate("document.querySelector('.contents details > div').getBoundingClientRect().top");
            assert_eq!(top, 56, "the sheet is below the header");
            page.click(".contents .level2 a");
            assert_eq!(page.evaluate(is_open), false, "the sheet closes after a choice");
        }
        page.assert_no_complaints();
    }
}

#[test]
fn link_to_status_opens_its_examples() {
    let Some((host, mut page)) = visit(1280) else { return };
    page.visit(&format!("{}/?#listCourses-400", host.docs()));
    let examples = page.evaluate("document.querySelector('#listCourses-400').innerText");
    assert!(examples.as_str().unwrap().contains("out_of_range"), "{examples}");
    page.visit(&format!("{}/#error-unauthorized-expired", host.docs()));
    assert_eq!(page.evaluate("document.querySelector('#error-unauthorized-expired').checkVisibility()"), true);
}

#[test]
fn page_without_script_is_complete_and_hides_unusable_controls() {
    let Some((host, mut page)) = visit(1280) else { return };
    page.enable_scripts(false);
    page.visit(&host.docs());
    let text = page.evaluate("document.body.innerText");
    for piece in [
        "Authentication and scopes",
        "GET /courses/{slug}",
        "nextCursor",
        "curl -H",
        "rate_limited",
        "Replace https://api.example.com with this server's URL.",
        "Python",
    ] {
        assert!(text.as_str().unwrap().contains(piece), "{piece}");
    }
    assert_eq!(page.evaluate("document.querySelector('.contents .level2').checkVisibility()"), true);
    let controls = "[...document.querySelectorAll('form, input, button, .try')]";
    assert!(page.evaluate(&format!("{controls}.length")).as_u64() > Some(10));
    assert_eq!(page.evaluate(&format!("{controls}.filter((part) => part.checkVisibility()).length")), 0);
    let last = "#listCourses-request details:last-child";
    page.click(&format!("{last} summary"));
    let sample = page.evaluate(&format!("document.querySelector('{last}').innerText"));
    assert!(sample.as_str().unwrap().contains("file_get_contents"), "every language can be read: {sample}");
    page.enable_scripts(true);
    page.visit(&format!("{}/", host.docs()));
    assert_eq!(page.evaluate("document.querySelector('#api-key').checkVisibility()"), true);
    page.assert_no_complaints();
}
