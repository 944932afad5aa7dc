//! The reference page without scripts.

use serde_json::json;

use crate::site::Site;

#[test]
fn reference_is_complete_and_hides_unusable_controls() {
    let site = Site::start("");
    let Some(mut page) = site.browser() else { return };
    page.command("Emulation.setScriptExecutionDisabled", json!({ "value": true }));
    page.visit(&format!("{}/docs", site.origin()));
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
    let controls = "[...document.querySelectorAll('form, input, button, .try')]";
    assert!(page.evaluate(&format!("{controls}.length")).as_u64() > Some(10));
    assert_eq!(page.evaluate(&format!("{controls}.filter((part) => part.checkVisibility()).length")), 0);
    page.click("#listCourses-request + .samples details:last-child summary");
    let sample =
        page.evaluate("document.querySelector('#listCourses-request + .samples details:last-child').innerText");
    assert!(sample.as_str().unwrap().contains("file_get_contents"), "every language can be read: {sample}");
    page.command("Emulation.setScriptExecutionDisabled", json!({ "value": false }));
    page.visit(&format!("{}/docs/", site.origin()));
    assert_eq!(page.evaluate("document.querySelector('#api-key').checkVisibility()"), true);
    assert!(page.complaints().is_empty(), "{:?}", page.complaints());
}
