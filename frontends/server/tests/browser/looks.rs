//! Appearance and accessibility of the page, in both color schemes, wide and narrow.

use serde_json::{Value, json};

use crate::axe::Axe;
use crate::page::Page;
use crate::site::Site;

/// Script that returns elements whose text or input border has less contrast than WCAG 2.2, level AA, requires.
pub(crate) const LOW_CONTRAST: &str = include_str!("low_contrast.js");

/// Script that returns elements that overflow the window or their own box, except input fields.
pub(crate) const TOO_WIDE: &str = r"
[document.documentElement, ...document.querySelectorAll('main *:not(input)')]
  .filter((part) => part.checkVisibility() && getComputedStyle(part).display !== 'inline')
  .filter((part) => part.getBoundingClientRect().right > innerWidth || part.scrollWidth > part.clientWidth + 1)
  .map((part) => part.outerHTML.slice(0, 80))";

/// Opens the page and sends two forms, one of them with an error.
fn visit_and_send(site: &Site, page: &mut Page) {
    page.visit(&format!("{}/docs", site.origin()));
    page.open_panels();
    page.paste("#api-key", &site.key);
    page.send("/courses");
    page.paste("#try-getCourse-slug", "none");
    page.send("/courses/{slug}");
}

#[test]
fn page_fits_and_is_readable_in_both_color_schemes() {
    let site = Site::start("");
    let Some(mut page) = site.browser() else { return };
    let (axe, mut backgrounds) = (Axe::install(), Vec::new());
    for (width, mobile) in [(1280, false), (390, true)] {
        let size = json!({ "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": mobile });
        page.command("Emulation.setDeviceMetricsOverride", size);
        for scheme in ["light", "dark"] {
            page.prefer(scheme);
            visit_and_send(&site, &mut page);
            assert_eq!(page.evaluate("innerWidth"), width);
            assert_eq!(page.evaluate(TOO_WIDE), json!([]), "{width} {scheme}");
            assert_eq!(page.evaluate(LOW_CONTRAST), json!([]), "{width} {scheme}");
            if let Some(axe) = &axe {
                assert_eq!(axe.violations(&mut page), json!([]), "{width} {scheme}");
            }
            backgrounds.push(page.evaluate("getComputedStyle(document.body).backgroundColor"));
        }
    }
    assert!(backgrounds[0] != backgrounds[1] && backgrounds[..2] == backgrounds[2..], "{backgrounds:?}");
}

#[test]
fn page_is_usable_by_keyboard_and_screen_reader() {
    let site = Site::start("");
    let Some(mut page) = site.browser() else { return };
    visit_and_send(&site, &mut page);
    page.visit(&format!("{}/docs", site.origin()));
    page.press("Tab", 9);
    assert_eq!(page.evaluate("document.activeElement.className"), "skip");
    assert_eq!(page.evaluate("document.activeElement.getBoundingClientRect().left >= 0"), true);
    page.press("Enter", 13);
    assert_eq!(page.evaluate("location.hash"), "#main");
    page.press("Tab", 9);
    assert_eq!(page.evaluate("document.activeElement.closest('main') !== null"), true, "the contents are skipped");
    assert_ne!(page.evaluate("getComputedStyle(document.activeElement).outlineStyle"), "none");

    page.open_panels();
    let tree = page.command("Accessibility.getFullAXTree", json!({}));
    let nodes: Vec<&Value> = tree["nodes"].as_array().unwrap().iter().filter(|node| node["ignored"] == false).collect();
    let with = |role: &str| nodes.iter().filter(|node| node["role"]["value"] == role).copied().collect::<Vec<_>>();
    for role in ["textbox", "button", "link", "form", "navigation"] {
        let mut names: Vec<&str> = with(role).iter().map(|node| node["name"]["value"].as_str().unwrap()).collect();
        assert!(!names.is_empty() && !names.contains(&""), "{role}: {names:?}");
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert!(role == "link" || names.len() == all, "{role}: {names:?}");
    }
    assert_eq!((with("main").len(), with("status").len()), (1, 4));
    assert!(with("table").len() > 5 && with("columnheader").len() > 15);
}
