//! Tables for people.

use std::iter;

use crate::text::printable;

/// Rows below headings, their columns aligned by two blanks at least. Characters count one each.
pub(super) fn aligned<const N: usize>(headings: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    // A cell can neither steer the terminal nor break the line.
    let rows = rows.map(|row| row.map(|cell| printable(&cell).into_owned()));
    let rows: Vec<[String; N]> = iter::once(headings.map(str::to_owned)).chain(rows).collect();
    let mut widths = [0; N];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let mut text = String::new();
    for row in &rows {
        let cells: Vec<String> = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_lines_whole() {
        let rows = [["é".to_owned(), "-".to_owned()], ["a\nb".to_owned(), "long".to_owned()]];
        assert_eq!(aligned(["ONE", "TWO"], rows.into_iter()), "ONE   TWO\né     -\na\\nb  long\n");
    }
}
