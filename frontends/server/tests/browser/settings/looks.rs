//! How the settings look: both schemes, wide and narrow, and to those who do not see them.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::gallery;
use super::host::Host;
use crate::axe::Axe;
use crate::looks::{FAINT, TOO_WIDE};
use crate::page::Page;

#[test]
fn every_page_fits_and_can_be_used_by_everybody() {
    let host = Host::start();
    let axe = Axe::install();
    // For a person to look at.
    let pictures = std::env::var_os("CATALOGUE_TEST_PICTURES");
    let (mut seen, mut faults) = (0, Vec::new());
    let look = &mut |page: &mut Page, name: &str| {
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
                for found in [page.evaluate(TOO_WIDE), page.evaluate(FAINT), axe] {
                    let found = found.as_array().unwrap().iter().map(|fault| format!("{name}: {fault}"));
                    faults.extend(found);
                }
            }
        }
        faults.extend(page.complaints().iter().map(|complaint| format!("{name}: {complaint}")));
        seen += 1;
    };
    let Some(()) = gallery::each(&host, look) else { return };
    assert!(faults.is_empty() && seen > 20, "{seen} pages, {}:\n{}", faults.len(), faults.join("\n"));
}

fn take_picture(page: &mut Page, path: &Path) {
    let picture = page.command("Page.captureScreenshot", json!({ "captureBeyondViewport": true }));
    std::fs::write(path, STANDARD.decode(picture["data"].as_str().unwrap()).unwrap()).unwrap();
}
