//! The pictures in the README at the root.

use std::path::Path;
use std::time::Duration;

use crate::host::{Host, before};
use crate::looks::picture;
use crate::page::Page;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/pictures");
const README: &str = include_str!("../../../../README.md");

/// Maximum size of a picture, so that the README loads fast.
const MAX_BYTES: usize = 150 * 1024;

/// With `CATALOGUE_TEST_PICTURES=FOLDER`, also writes the pictures.
#[test]
fn readme_pictures_have_sizes_and_titles_of_their_pages() {
    let host = Host::start();
    for (name, age, last_use) in [("Nightly import", 41, 2), ("Mobile app", 12, 1), ("Partner website", 3, 0)] {
        let (id, _) = host.create_key("anna", name, |key| {
            key.created_at = before(DAY * age);
            key.expires_at = key.created_at.checked_add(DAY * 90);
        });
        host.record_use("anna", &id, DAY * last_use);
    }
    let Some(mut settings) = host.signed_in("anna") else { return };
    let mut reference = Page::fresh().unwrap();
    settings.resize(1280);
    reference.resize(1280);
    settings.visit(&host.page(""));
    reference.visit(&host.docs());
    for (name, mut page) in [("reference", reference), ("developer-settings", settings)] {
        let made = picture(&mut page, false);
        if let Some(folder) = std::env::var_os("CATALOGUE_TEST_PICTURES") {
            std::fs::write(Path::new(&folder).join(name).with_extension("png"), &made).unwrap();
        }
        let title = page.evaluate("document.title");
        let image = format!("alt={title} src=\"frontends/server/pictures/{name}.png\"");
        assert!(README.contains(&image), "the README has no {image}");
        let committed = std::fs::read(Path::new(FOLDER).join(name).with_extension("png")).unwrap();
        assert_eq!(size(&committed), size(&made), "{name} is outdated; CONTRIBUTING.md says how to make it again");
        assert!(committed.len() <= MAX_BYTES, "{name} has {} bytes", committed.len());
    }
}

/// Returns the width and height in the header of a PNG.
fn size(png: &[u8]) -> [u8; 8] {
    png[16..24].try_into().unwrap()
}
