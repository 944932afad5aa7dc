//! The reference as Markdown that reads well in a terminal and on a code host.

use super::about::Site;
use super::links::{Link, destination};
use super::reference::block::{Block, Status, code};
use super::reference::content;

/// Texts are wrapped at this column.
const WIDTH: usize = 96;
/// Stands in examples for the server where its name is not known.
pub(super) const IN_TEXTS: &str = "$SERVER";

pub(super) fn render(site: Site<'_>) -> String {
    blocks(&content(site, IN_TEXTS))
}

/// The blocks with one empty line between them.
pub(super) fn blocks(blocks: &[Block]) -> String {
    blocks.iter().filter_map(write_block).collect::<Vec<_>>().join("\n")
}

fn write_block(block: &Block) -> Option<String> {
    Some(match block {
        Block::Heading(level, text) => format!("{} {text}\n", "#".repeat(*level)),
        Block::Text(text) => wrap(text, ""),
        Block::List(items) => items.iter().map(|item| wrap(item, "- ")).collect(),
        Block::Links(links) => links.iter().map(write_link).collect(),
        Block::Code { language, text, .. } => fence(language, text),
        Block::UnnamedServer(text) if text.is_empty() => return None,
        Block::UnnamedServer(text) => wrap(text, ""),
        Block::Samples(_, samples) => format!("#### Request\n\n{}", fence("sh", &samples[0].text)),
        Block::Example(_, text) => fence("json", text),
        Block::Statuses(_, statuses) => {
            table(&["Status", "Code", "When"], &statuses.iter().map(row).collect::<Vec<_>>())
        }
        Block::Table { head, rows, .. } => table(head, rows),
        Block::Base(_) | Block::KeyField | Block::TryIt(_) => return None,
    })
}

fn fence(language: &str, text: &str) -> String {
    format!("```{language}\n{text}\n```\n")
}

fn row(answer: &Status) -> Vec<String> {
    let name = answer.code.map_or_else(|| "none".to_owned(), |error| code(error.as_str()));
    vec![answer.status.clone(), name, answer.meaning.clone()]
}

/// One link as an item of a list.
pub(super) fn write_link(link: &Link) -> String {
    format!("- [{}]({}): {}\n", link.title, destination(&link.address), link.note)
}

/// `text` in lines of [`WIDTH`], the first after `lead`, the others below its text. Code is never broken.
pub(super) fn wrap(text: &str, lead: &str) -> String {
    let mut wrapped = lead.to_owned();
    let mut column = lead.len();
    for (index, word) in words(text).into_iter().enumerate() {
        let width = word.chars().count();
        if index > 0 && column + 1 + width > WIDTH {
            wrapped.push('\n');
            wrapped.push_str(&" ".repeat(lead.len()));
            column = lead.len();
        } else if index > 0 {
            wrapped.push(' ');
            column += 1;
        }
        wrapped.push_str(word);
        column += width;
    }
    wrapped + "\n"
}

/// The pieces between blanks outside code.
fn words(text: &str) -> Vec<&str> {
    let mut in_code = false;
    let is_break = |c: char| {
        in_code ^= c == '`';
        c == ' ' && !in_code
    };
    text.split(is_break).collect()
}

/// A table whose columns stand below each other in plain text too; the last one is as wide as it likes.
fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| cell.replace('|', "\\|")).collect()).collect();
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([head[column].len(), 3]).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..head.len() - 1).map(width).collect();
    let line = |cells: Vec<&str>| {
        let mut line = String::from("|");
        for (index, cell) in cells.into_iter().enumerate() {
            let width = widths.get(index).copied().unwrap_or_default();
            line.push_str(&format!(" {cell:width$} |"));
        }
        line + "\n"
    };
    let rule: Vec<String> = widths.iter().copied().chain([3]).map(|width| "-".repeat(width)).collect();
    let body: String = rows.iter().map(|row| line(row.iter().map(String::as_str).collect())).collect();
    format!("{}{}{body}", line(head.to_vec()), line(rule.iter().map(String::as_str).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_below_each_other_and_bars_are_escaped() {
        let rows = [vec!["`a|b`".to_owned(), "x".to_owned()], vec!["c".to_owned(), "longer".to_owned()]];
        assert_eq!(
            table(&["Code", "Note"], &rows),
            "| Code   | Note |\n| ------ | --- |\n| `a\\|b` | x |\n| c      | longer |\n"
        );
    }

    #[test]
    fn a_line_is_filled_to_its_end() {
        let [first, fits, long] = [("a", 46), ("b", 47), ("b", 48)].map(|(letter, times)| letter.repeat(times));
        assert_eq!(wrap(&format!("{first} {fits}"), "- "), format!("- {first} {fits}\n"));
        assert_eq!(wrap(&format!("{first} {long}"), "- "), format!("- {first}\n  {long}\n"));
    }

    #[test]
    fn long_texts_are_wrapped_between_words_and_never_in_code() {
        let code = format!("`{}`", "a b ".repeat(30));
        let text = format!("one {code} two");
        assert_eq!(wrap(&text, "- "), format!("- one\n  {code}\n  two\n"));
    }
}
