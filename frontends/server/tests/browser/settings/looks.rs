//! Appearance and accessibility of the settings, in both color schemes, wide and narrow.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::gallery;
use super::host::Host;
use crate::axe::Axe;
use crate::looks::{LOW_CONTRAST, TOO_WIDE};
use crate::page::Page;

#[test]
fn every_page_fits_and_is_accessible() {
    let host = Host::start();
    let axe = Axe::install();
    // Screenshots for a person to check.
    let pictures = std::env::var_os("CATALOGUE_TEST_PICTURES");
    let (mut pages, mut problems) = (0, Vec::new());
    let inspect = &mut |page: &mut Page, name: &str| {
        for (width, mobile) in [(1280, false), (390, true)] {
            let size = json!({ "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": mobile });
            page.command("Emulation.setDeviceMetricsOverride", size);
            for scheme in ["light", "dark"] {
                page.prefer(scheme);
                let name = format!("{name}-{width}-{scheme}");
                if let Some(folder) = &pictures {
                    take_picture(page, &Path::new(folder).join(format!("{name}.png")));
                }
                let axe = axe.as_ref().map_or_else(|| json!([]), |axe| axe.violations(page));
                for found in [page.evaluate(TOO_WIDE), page.evaluate(LOW_CONTRAST), axe] {
                    let found = found.as_array().unwrap().iter().map(|problem| format!("{name}: {problem}"));
                    problems.extend(found);
                }
            }
        }
        problems.extend(page.complaints().iter().map(|complaint| format!("{name}: {complaint}")));
        pages += 1;
    };
    let Some(()) = gallery::visit_pages(&host, inspect) else { return };
    assert!(problems.is_empty() && pages > 20, "{pages} pages, {}:\n{}", problems.len(), problems.join("\n"));
}

fn take_picture(page: &mut Page, path: &Path) {
    let picture = page.command("Page.captureScreenshot", json!({ "captureBeyondViewport": true }));
    std::fs::write(path, STANDARD.decode(picture["data"].as_str().unwrap()).unwrap()).unwrap();
}
