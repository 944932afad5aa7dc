//! Tables for terminals.

use unicode_width::UnicodeWidthStr as _;

use crate::text::printable;

/// Returns rows below headings, aligned by their width on a terminal: most Japanese characters take two columns, and
/// combining accents take none.
pub(super) fn aligned<const N: usize>(headings: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    lines([headings.map(str::to_owned)].into_iter().chain(rows))
}

/// Returns names and values, a line each.
pub(super) fn fields<const N: usize>(fields: [(&str, String); N]) -> String {
    lines(fields.into_iter().map(|(name, value)| [name.to_owned(), value]))
}

fn lines<const N: usize>(rows: impl Iterator<Item = [String; N]>) -> String {
    // Escaped, so that a cell can neither control the terminal nor break the line.
    let rows: Vec<_> = rows.map(|row| row.map(|cell| printable(&cell).into_owned())).collect();
    let mut widths = [0; N];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.width().max(*width);
        }
    }
    let mut text = String::new();
    for row in &rows {
        let padded = row.iter().zip(widths).map(|(cell, width)| format!("{cell}{}", " ".repeat(width - cell.width())));
        text += padded.collect::<Vec<_>>().join("  ").trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_by_display_width_and_cells_stay_on_one_line() {
        for (headers, rows, expected) in [
            (["ONE", "TWO"], [["é", "-"], ["a\nb", "long"]], "ONE   TWO\né     -\na\\nb  long\n"),
            (
                ["NAME", "ID"],
                [["山田太郎", "a"], ["cafe\u{301}s", "b"]],
                "NAME      ID\n山田太郎  a\ncafe\u{301}s     b\n",
            ),
        ] {
            assert_eq!(aligned(headers, rows.map(|row| row.map(str::to_owned)).into_iter()), expected);
        }
    }
}
