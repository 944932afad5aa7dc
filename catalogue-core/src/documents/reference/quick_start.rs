//! The first screen of the reference: the base URL, and three steps from a key to the second page of a list.

use super::block::{Block, code};
use super::samples::{curl, host_prefix, wrapped};
use crate::documents::about::Site;
use crate::documents::links::EXAMPLE_HOST;
use crate::operation::{Operation, Parameter};

pub(super) fn all(site: Site<'_>, origin: &str) -> Vec<Block> {
    let spec = Operation::ListCourses.spec();
    let cursor = Parameter::Cursor.name();
    let first = wrapped(&curl(spec, site, origin));
    let sed = r#" |
  sed -n 's/.*"nextCursor":"\([^"]*\)".*/\1/p'"#;
    let (start, quote) = first.split_at(first.len() - 1);
    let step = |label, text| Block::Code { language: "sh", label, text };
    let mut blocks = vec![
        Block::Base(format!("{}{}", host_prefix(site, origin), site.base.as_str())),
        Block::heading(2, "Quick start"),
    ];
    if site.has_relative_base() {
        let server =
            format!("Replace `$SERVER` with the scheme and host of the server, such as `https://{EXAMPLE_HOST}`.");
        blocks.push(Block::ServerNote(server));
    }
    blocks.extend([
        Block::Text(format!(
            "**1. Get a key.** {} Paste this line into a shell, then the key: it stays in this shell and out of its history.",
            site.keys()
        )),
        step("step 1", "stty -echo; read -r API_KEY; stty echo; export API_KEY".to_owned()),
        Block::text("**2. Make the first call.** It lists the account's newest courses."),
        step("step 2", first.clone()),
        Block::Text(format!(
            "**3. Read the next page.** Pass {} on as {} until it is null.",
            code("meta.nextCursor"),
            code(cursor)
        )),
        step(
            "step 3",
            format!("next=$({}{sed})\n{start}${{next:+&{cursor}=$next}}{quote}", first.replacen("curl", "curl -s", 1)),
        ),
    ]);
    blocks
}
