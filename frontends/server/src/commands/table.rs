//! Tables for people.

/// Rows below headings, their columns aligned by two blanks at least. Characters count one each.
pub(super) fn aligned<const N: usize>(headings: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let rows: Vec<[String; N]> = std::iter::once(headings.map(str::to_owned)).chain(rows.map(printable)).collect();
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

/// Cells that cannot steer the terminal nor break the line.
fn printable<const N: usize>(row: [String; N]) -> [String; N] {
    row.map(|cell| {
        if !cell.contains(char::is_control) {
            return cell;
        }
        let escaped = cell.chars().map(|c| if c.is_control() { c.escape_default().to_string() } else { c.to_string() });
        escaped.collect()
    })
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
