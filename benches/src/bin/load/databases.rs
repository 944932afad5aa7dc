//! Uncached responses from another database, compared with those from the catalogue's own tables of the usual size.

use std::error::Error;
use std::path::Path;

use catalogue_benches::{Data, HostApp, Large, Owner, Program, course};

use crate::rows::{FIRST_PAGE, Row, Target, deep_page};
use crate::serve;

/// Names of the rows over a large database, which include the database's time.
pub(crate) const LARGE: [&str; 3] = ["size: first page", "size: deep page", "size: detail"];

/// Names of the rows over views of another program's tables with the same rows.
pub(crate) const VIEWS: [&str; 3] = ["views: first page", "views: deep page", "views: detail"];

/// Returns the named rows over `large`, and its server; `few` is the server of the small database.
pub(crate) fn large_rows(
    names: &[&'static str],
    catalogue: &Path,
    data: &Data,
    large: Option<&Large>,
    few: &Program,
) -> Result<(Option<Program>, Vec<Row>), Box<dyn Error>> {
    let Some(large) = large else { return Ok((None, Vec::new())) };
    let many = serve(catalogue, &["--database", &large.address], false)?;
    let rows = rows(names, (&many, &large.owner), (few, data), 1.1, true)?;
    Ok((Some(many), rows))
}

/// Returns the named rows, and the server over views; `cold` is the uncached server over the catalogue's own tables.
pub(crate) fn view_rows(
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
    let server = serve(catalogue, &host_app.arguments, false)?;
    let rows = rows(names, (&server, &host_app.owner), (cold, data), 1.35, false)?;
    Ok((Some(server), rows))
}

/// Compares responses to an account of a server with those to the first account of the baseline.
fn rows(
    names: &[&'static str],
    (server, owner): (&Program, &Owner),
    (baseline, data): (&Program, &Data),
    goal: f64,
    with_database: bool,
) -> Result<Vec<Row>, Box<dyn Error>> {
    let first = &data.accounts()[0];
    let slug = course(&first.account, first.courses / 2).slug;
    let target = |name: &str, server: &Program, owner: &Owner| {
        let path = match name.rsplit_once(": ").map_or(name, |(_, request)| request) {
            "first page" => FIRST_PAGE.to_owned(),
            "deep page" => deep_page(server.addresses()[0], owner)?,
            _ => format!("/courses/{slug}"),
        };
        Ok::<_, Box<dyn Error>>(Target::of(server, vec![owner.request(&path, "")]))
    };
    let mut rows = Vec::new();
    for &name in names {
        let (measured, baseline) = (target(name, server, owner)?, target(name, baseline, first)?);
        rows.push(Row { name, goal, measured, baseline, with_database });
    }
    Ok(rows)
}
