//! Appearance and accessibility of the reference page and the settings, in both color schemes, wide and narrow.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::axe::Axe;
use crate::host::Host;
use crate::page::Page;
use crate::settings::gallery;

/// Script that returns elements whose text or input border has less contrast than WCAG 2.2, level AA, requires.
const LOW_CONTRAST: &str = include_str!("low_contrast.js");

/// Script that returns elements that overflow the window or their own box, except input fields and code, which scrolls.
const TOO_WIDE: &str = r"
[document.documentElement, ...document.querySelectorAll('main *:not(input, pre, pre *)')]
  .filter((part) => part.checkVisibility() && getComputedStyle(part).display !== 'inline')
  .filter((part) => part.getBoundingClientRect().right > innerWidth || part.scrollWidth > part.clientWidth + 1)
  .map((part) => part.outerHTML.slice(0, 80))";

/// Checks pages, and collects their problems.
struct Inspector {
    axe: Option<Axe>,
    /// Folder for screenshots, which a person can check.
    pictures: Option<std::ffi::OsString>,
    pages: usize,
    problems: Vec<String>,
}

impl Inspector {
    fn new() -> Self {
        let pictures = std::env::var_os("CATALOGUE_TEST_PICTURES");
        Self { axe: Axe::install(), pictures, pages: 0, problems: Vec::new() }
    }

    /// Inspects a page with both widths and color schemes.
    fn inspect(&mut self, page: &mut Page, name: &str) {
        let mut backgrounds = Vec::new();
        for width in [1280, 390] {
            page.resize(width);
            for scheme in ["light", "dark"] {
                page.prefer(scheme);
                assert_eq!(page.evaluate("innerWidth"), width);
                let name = format!("{name}-{width}-{scheme}");
                if let Some(folder) = &self.pictures {
                    std::fs::write(Path::new(folder).join(format!("{name}.png")), picture(page, true)).unwrap();
                }
                let axe = self.axe.as_ref().map_or_else(|| json!([]), |axe| axe.violations(page));
                for found in [page.evaluate(TOO_WIDE), page.evaluate(LOW_CONTRAST), axe] {
                    let found = found.as_array().unwrap().iter().map(|problem| format!("{name}: {problem}"));
                    self.problems.extend(found);
                }
                backgrounds.push(page.evaluate("getComputedStyle(document.body).backgroundColor"));
            }
        }
        assert!(backgrounds[0] != backgrounds[1] && backgrounds[..2] == backgrounds[2..], "{name}: {backgrounds:?}");
        self.problems.extend(page.complaints().iter().map(|complaint| format!("{name}: {complaint}")));
        self.pages += 1;
    }

    fn finish(self, pages: usize) {
        let Self { problems, .. } = self;
        assert!(problems.is_empty(), "{} in {} pages:\n{}", problems.len(), self.pages, problems.join("\n"));
        assert!(self.pages >= pages, "{} pages", self.pages);
    }
}

/// Returns a PNG of the window, or of the whole page.
pub(crate) fn picture(page: &mut Page, is_whole: bool) -> Vec<u8> {
    let picture = page.command("Page.captureScreenshot", json!({ "captureBeyondViewport": is_whole }));
    STANDARD.decode(picture["data"].as_str().unwrap()).unwrap()
}

#[test]
fn every_settings_page_fits_and_is_accessible() {
    let mut inspector = Inspector::new();
    let inspect = &mut |page: &mut Page, name: &str| inspector.inspect(page, name);
    let Some(()) = gallery::visit_pages(&Host::start(), inspect) else { return };
    inspector.finish(21);
}

/// Opens the reference page in a window of `width` and sends two forms, one of them with an error.
fn visit_and_send(host: &Host, width: u32) -> Option<Page> {
    let mut page = Page::fresh()?;
    page.resize(width);
    page.visit(&host.docs());
    page.open_panels();
    page.paste("#api-key", &host.create_key("anna", "n", |_| {}).1);
    page.send("/courses");
    page.paste("#try-getCourse-slug", "none");
    page.send("/courses/{slug}");
    Some(page)
}

#[test]
fn reference_page_fits_and_is_accessible() {
    let Some(mut page) = visit_and_send(&Host::start(), 390) else { return };
    let mut inspector = Inspector::new();
    inspector.inspect(&mut page, "reference");
    inspector.finish(1);
    for width in [390, 1280] {
        page.resize(width);
        let edges = "[...new Set([...document.querySelectorAll('main > :is(p, table, .code, .samples, form)')]
          .map((part) => part.getBoundingClientRect().right))].length";
        assert_eq!(page.evaluate(edges), 1, "{width}: text, tables and code share one right edge");
        let broken = "[...document.querySelectorAll('pre')].filter((part) => getComputedStyle(part).whiteSpace !== 'pre').length";
        assert_eq!(page.evaluate(broken), 0, "{width}: code does not break inside words");
    }
}

#[test]
fn reference_page_is_usable_by_keyboard_and_screen_reader() {
    let host = Host::start();
    let Some(mut page) = visit_and_send(&host, 1280) else { return };
    page.visit(&host.docs());
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
