//! Uncached responses from a large database, compared with those from a small one, including the database's time.

use std::error::Error;
use std::path::Path;

use catalogue_benches::{Data, Large, Owner, Program, course, on_one_processor};

use crate::rows::{FIRST_PAGE, Row, Target, deep_page};

/// Names of the rows over the large database.
pub(crate) const NAMES: [&str; 3] = ["size: first page", "size: deep page", "size: detail"];

/// Returns the named rows, and the server of the large database; `few` is the server of the small one.
pub(crate) fn rows(
    names: &[&'static str],
    catalogue: &Path,
    data: &Data,
    large: Option<&Large>,
    few: &Program,
) -> Result<(Option<Program>, Vec<Row>), Box<dyn Error>> {
    let Some(large) = large else { return Ok((None, Vec::new())) };
    let mut command = on_one_processor(catalogue);
    command.args(["serve", "--listen", "127.0.0.1:0", "--page-cache", "0", "--database", &large.address]);
    let many = Program::start(&mut command, 1)?;
    let target = |name: &str, server: &Program, owner: &Owner| {
        let path = match NAMES.iter().position(|known| *known == name) {
            Some(0) => FIRST_PAGE.to_owned(),
            Some(1) => deep_page(server.addresses()[0], owner)?,
            _ => format!("/courses/{}", course(&owner.account, data.accounts()[0].courses / 2).slug),
        };
        Ok::<_, Box<dyn Error>>(Target::of(server, vec![owner.request(&path, "")]))
    };
    let mut rows = Vec::new();
    for &name in names {
        let (measured, baseline) = (target(name, &many, &large.owner)?, target(name, few, &data.accounts()[0])?);
        rows.push(Row { name, goal: 1.1, measured, baseline, with_database: true });
    }
    Ok((Some(many), rows))
}
