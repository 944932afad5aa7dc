//! The reference as Markdown that reads well in a terminal and on a code host.

use super::about::Site;
use super::examples::ExampleResponse;
use super::reference::block::{Block, code};
use super::reference::content;
use super::reference::samples::Sample;

/// Placeholder in examples for the scheme and host of the server, if the base URL has none.
pub(super) const SERVER_VARIABLE: &str = "$SERVER";

pub(super) fn render(site: Site<'_>) -> String {
    blocks(&content(site, SERVER_VARIABLE))
}

/// Renders the blocks with one empty line between them.
pub(super) fn blocks(blocks: &[Block]) -> String {
    blocks.iter().filter_map(write_block).collect::<Vec<_>>().join("\n")
}

fn write_block(block: &Block) -> Option<String> {
    Some(match block {
        Block::Heading(level, text) => format!("{} {text}\n", "#".repeat(*level)),
        Block::Text(text) | Block::ServerNote(text) => format!("{text}\n"),
        Block::List(items) => items.iter().map(|item| format!("- {item}\n")).collect(),
        Block::Code { language, text, .. } => fence(language, text),
        Block::Samples(_, samples) => {
            let Sample { language, text } = &samples[0];
            fence(if *language == "curl" { "sh".to_owned() } else { language.to_lowercase() }.as_str(), text)
        }
        Block::Example(_, text) => fence("json", text),
        Block::Responses(_, fields, statuses) => {
            let statuses: Vec<_> = statuses.iter().map(|examples| row(examples)).collect();
            format!("{}\n{}", blocks(fields), table(&["Status", "Code", "When"], &statuses)).trim_start().to_owned()
        }
        Block::Folded(title, block) => format!("{title}:\n\n{}", write_block(block)?),
        Block::Table { head, rows, .. } => table(head, rows),
        Block::Base(_) | Block::KeyField | Block::TryIt(_) => return None,
    })
}

fn fence(language: &str, text: &str) -> String {
    format!("```{language}\n{text}\n```\n")
}

fn row(examples: &[ExampleResponse]) -> Vec<String> {
    let example = &examples[0];
    let name = example.code.map_or_else(|| "none".to_owned(), |error| code(error.as_str()));
    vec![example.status.as_str().to_owned(), name, example.meaning()]
}

/// Renders a table. The line below its head has the minimum number of hyphens that Markdown requires.
fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: Vec<&str>| format!("| {} |\n", cells.join(" | "));
    let body = rows.iter().map(|row| row.iter().map(|cell| cell.replace('|', "\\|")).collect::<Vec<_>>());
    let body: String = body.map(|row| line(row.iter().map(String::as_str).collect())).collect();
    format!("{}{}{body}", line(head.to_vec()), line(vec!["---"; head.len()]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pipes_in_table_cells_are_escaped() {
        let rows = [vec!["`a|b`".to_owned(), "x".to_owned()], vec!["c".to_owned(), "longer".to_owned()]];
        assert_eq!(
            table(&["Code", "Note"], &rows),
            "| Code | Note |\n| --- | --- |\n| `a\\|b` | x |\n| c | longer |\n"
        );
    }
}
