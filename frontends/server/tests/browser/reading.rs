//! Reading aids of the page: choice of the samples' language, copy buttons, a table of contents that follows the
//! reader, and links that open examples.

use serde_json::json;

use crate::page::Page;
use crate::site::Site;

fn visit(width: u32, mobile: bool) -> Option<(Site, Page)> {
    let site = Site::start("");
    let mut page = site.browser()?;
    let size = json!({ "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": mobile });
    page.command("Emulation.setDeviceMetricsOverride", size);
    page.visit(&format!("{}/docs", site.origin()));
    Some((site, page))
}

#[test]
fn chosen_language_applies_to_all_samples() {
    let Some((site, mut page)) = visit(1280, false) else { return };
    let displayed = "[...document.querySelectorAll('.samples summary')].map((part) => part.parentElement)
      .filter((part) => part.open && part.checkVisibility()).map((part) => part.textContent.trim().split('\\n')[0])";
    assert_eq!(page.evaluate(displayed), json!(["curl", "curl", "curl", "curl"]));
    page.click(".tabs button[aria-label=\"Ruby: GET /courses\"]");
    assert_eq!(page.evaluate(displayed), json!(["Ruby", "Ruby", "Ruby", "Ruby"]));
    assert_eq!(page.evaluate("document.querySelectorAll('.tabs [aria-pressed=true]').length"), 4);
    let sample = page.evaluate("document.querySelector('[data-copy=\"GET /courses in Ruby\"] code').innerText");
    let address = format!("\"{}/api/v1/courses?limit=100\"", site.origin());
    assert!(sample.as_str().unwrap().contains(&address), "the sample contains the page's origin: {sample}");
    assert!(page.complaints().is_empty(), "{:?}", page.complaints());
}

#[test]
fn copy_button_copies_code_and_announces_it() {
    let Some((site, mut page)) = visit(1280, false) else { return };
    page.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text; }");
    for (label, text) in [
        ("step 1", "stty -echo; read -r API_KEY; stty echo; export API_KEY".to_owned()),
        ("the base URL", format!("{}/api/v1", site.origin())),
    ] {
        page.click(&format!("[data-copy=\"{label}\"] button"));
        assert_eq!(page.evaluate("copied"), text);
        assert_eq!(page.evaluate("document.querySelector('[aria-live]').textContent"), "Copied");
        assert_eq!(
            page.evaluate(&format!("document.querySelector('[data-copy=\"{label}\"] button').textContent")),
            "Copied"
        );
    }
    let json = page
        .evaluate("document.querySelector('[data-copy=\"a response to GET /me\"] button').click(), JSON.parse(copied)");
    assert!(json["data"]["userId"].is_string(), "{json}");
    assert!(page.complaints().is_empty(), "{:?}", page.complaints());
}

#[test]
fn table_of_contents_stays_visible_and_marks_current_section() {
    for (width, mobile) in [(1280, false), (390, true)] {
        let Some((_site, mut page)) = visit(width, mobile) else { return };
        let marked = "document.querySelector('nav [aria-current]')?.textContent ?? ''";
        assert_eq!(page.evaluate(marked), "", "{width}: the top of the page is above all sections");
        for (id, text) in
            [("errors", "Errors"), ("listCourses-response", "GET /courses"), ("getOpenApi", "GET /openapi.json")]
        {
            let moved = format!(
                "new Promise((done) => {{ document.getElementById('{id}').scrollIntoView();
                   requestAnimationFrame(() => requestAnimationFrame(() => done({marked}))); }})"
            );
            assert_eq!(page.evaluate(&moved), text, "{width}");
            let actual = page.evaluate("{ const box = document.querySelector('nav').getBoundingClientRect(); [Math.abs(box.top) < 1, box.height / innerHeight] }");
            assert_eq!(actual[0], true, "{width}: {actual}");
            assert!(!mobile || actual[1].as_f64().unwrap() < 0.1, "nav covers little of a narrow screen: {actual}");
        }
        assert!(page.complaints().is_empty(), "{:?}", page.complaints());
    }
}

#[test]
fn link_to_status_opens_its_examples() {
    let Some((site, mut page)) = visit(1280, false) else { return };
    page.visit(&format!("{}/docs/?#listCourses-400", site.origin()));
    let examples = page.evaluate("document.querySelector('#listCourses-400').innerText");
    assert!(examples.as_str().unwrap().contains("out_of_range"), "{examples}");
}
