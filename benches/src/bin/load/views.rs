//! Courses from views over another program's tables, compared with the catalogue's own tables with the same rows; uncached.

use std::error::Error;
use std::path::Path;

use catalogue_benches::{Data, HostApp, Owner, Program, course, on_one_processor};

use crate::rows::{FIRST_PAGE, Row, Target, deep_page};

/// Names of the rows over views.
pub(crate) const NAMES: [&str; 3] = ["views: first page", "views: deep page", "views: detail"];

/// Returns the named rows, and the server over views; `cold` is the uncached server over the catalogue's own tables.
pub(crate) fn rows(
    names: &[&'static str],
    catalogue: &Path,
    data: &Data,
    cold: &Program,
) -> Result<(Option<Program>, Vec<Row>), Box<dyn Error>> {
    if names.is_empty() {
        return Ok((None, Vec::new()));
    }
    eprintln!("copying the courses into tables with views");
    let host_app = HostApp::copied_from(data)?;
    let mut command = on_one_processor(catalogue);
    command.args(["serve", "--listen", "127.0.0.1:0", "--page-cache", "0"]).args(&host_app.arguments);
    let server = Program::start(&mut command, 1)?;
    let slug = course(&data.accounts()[0].account, host_app.owner.courses / 2).slug;
    let target = |name: &str, server: &Program, owner: &Owner| {
        let path = match NAMES.iter().position(|known| *known == name) {
            Some(0) => FIRST_PAGE.to_owned(),
            Some(1) => deep_page(server.addresses()[0], owner)?,
            _ => format!("/courses/{slug}"),
        };
        Ok::<_, Box<dyn Error>>(Target::of(server, vec![owner.request(&path, "")]))
    };
    let mut rows = Vec::new();
    for &name in names {
        let (measured, baseline) = (target(name, &server, &host_app.owner)?, target(name, cold, &data.accounts()[0])?);
        rows.push(Row { name, goal: 1.35, measured, baseline, with_database: false });
    }
    Ok((Some(server), rows))
}
