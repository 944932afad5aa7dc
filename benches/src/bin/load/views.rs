//! Courses from views over another program's tables, beside our own tables with the same rows; no answer is kept, but where
//! revisions are what is measured.

use std::error::Error;
use std::path::Path;

use catalogue_benches::{Data, Owner, Program, Team, course, on_one_processor};

use crate::works::{FIRST_PAGE, Target, Work, deep_page};

/// The works over views.
pub(crate) const NAMES: [&str; 4] =
    ["views: first page, beside our tables", "views: deep page", "views: detail", REVISIONS];

/// By servers that keep answers where they can: over views with revisions, beside the same views without.
const REVISIONS: &str = "views: first page with revisions, beside without";

/// The works of these names, with the servers that they need; `cold` are servers of our tables that keep no answers.
pub(crate) fn works(
    names: &[&'static str],
    catalogue: &Path,
    data: &Data,
    cold: &[Program],
) -> Result<(Vec<Program>, Vec<Work>), Box<dyn Error>> {
    if names.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    eprintln!("copying the courses into tables with views");
    let team = Team::beside(data)?;
    let start = |settings: &[&str]| {
        let mut command = on_one_processor(catalogue);
        command.args(["serve", "--listen", "127.0.0.1:0"]).args(settings).args(&team.arguments);
        cold.iter().map(|_| Program::start(&mut command, 1)).collect::<Result<Vec<_>, _>>()
    };
    let mut servers = start(&["--page-cache", "0"])?;
    let slug = course(&data.accounts()[0].account, team.owner.courses / 2).slug;
    let target = |name: &str, servers: &[Program], owner: &Owner| {
        let path = match NAMES.iter().position(|known| *known == name) {
            Some(0) => FIRST_PAGE.to_owned(),
            Some(1) => deep_page(servers[0].addresses()[0], owner)?,
            _ => format!("/courses/{slug}"),
        };
        Ok::<_, Box<dyn Error>>(Target::of(servers, vec![owner.request(&path, "")]))
    };
    let mut works = Vec::new();
    for &name in names.iter().filter(|name| **name != REVISIONS) {
        let (this, than) = (target(name, &servers, &team.owner)?, target(name, cold, &data.accounts()[0])?);
        works.push(Work { name, goal: 1.3, this, than, with_database: false });
    }
    if names.contains(&REVISIONS) {
        let without = start(&[])?;
        team.add_revisions(data)?;
        let with = start(&[])?;
        let [this, than] =
            [&with, &without].map(|servers| Target::of(servers, vec![team.owner.request(FIRST_PAGE, "")]));
        works.push(Work { name: REVISIONS, goal: f64::NAN, this, than, with_database: false });
        servers.extend(without.into_iter().chain(with));
    }
    Ok((servers, works))
}
