//! Tables for people.

use std::{iter, mem};

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::text::printable;

/// Between two columns.
const GAP: usize = 2;
/// How much of a cell is always shown.
const LEAST: usize = 9;

/// A column, and how it gives way where a terminal is too narrow for all.
#[derive(Clone, Copy, Debug)]
pub(super) enum Column {
    /// It does not.
    Whole(&'static str),
    /// Its cells are cut.
    Cut(&'static str),
    /// It is left out; that with the lowest number first.
    Optional(&'static str, u8),
}

impl Column {
    const fn heading(self) -> &'static str {
        match self {
            Self::Whole(heading) | Self::Cut(heading) | Self::Optional(heading, _) => heading,
        }
    }
}

/// Rows below headings, their columns aligned by two blanks at least, as a terminal shows them: most characters of Japanese are
/// two columns wide, and accents that stand by themselves none.
pub(super) fn aligned<const N: usize>(headings: [&'static str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    fitted(&headings.map(Column::Whole), rows.map(Vec::from).collect(), None).0
}

/// The same for a terminal of that width, if there is one: columns are left out, and cells cut, the first of the columns that can
/// be cut as far as it goes before the next. Also gives the headings that were left out.
pub(super) fn fitted(columns: &[Column], rows: Vec<Vec<String>>, width: Option<usize>) -> (String, Vec<&'static str>) {
    let headings = columns.iter().map(|column| column.heading().to_owned()).collect();
    // A cell can neither steer the terminal nor break the line.
    let cells = |row: Vec<String>| row.iter().map(|cell| printable(cell).into_owned()).collect();
    let mut rows: Vec<Vec<String>> = iter::once(headings).chain(rows.into_iter().map(cells)).collect();
    let mut columns = columns.to_vec();
    let mut widths = widths_of(&rows, columns.len());
    let (mut left_out, mut left_out_headings) = (Vec::new(), Vec::new());
    if let Some(width) = width {
        let mut kept: Vec<usize> = (0..columns.len()).collect();
        for at in in_order_of_going(&columns) {
            if needed(&columns, &widths, &kept) <= width {
                break;
            }
            kept.retain(|other| *other != at);
            left_out.push(at);
        }
        // The last may have been so wide that those before it have room again.
        while let [.., before, _] = left_out[..] {
            let mut more = [&*kept, &[before]].concat();
            more.sort_unstable();
            if needed(&columns, &widths, &more) > width {
                break;
            }
            kept = more;
            left_out.remove(left_out.len() - 2);
        }
        left_out_headings = left_out.iter().map(|at| columns[*at].heading()).collect();
        columns = kept.iter().map(|at| columns[*at]).collect();
        widths = kept.iter().map(|at| widths[*at]).collect();
        for row in &mut rows {
            *row = kept.iter().map(|at| mem::take(&mut row[*at])).collect();
        }
        for (at, _) in columns.iter().enumerate().filter(|(_, column)| matches!(column, Column::Cut(_))) {
            let excess = all_of(&widths).saturating_sub(width);
            widths[at] -= excess.min(widths[at].saturating_sub(LEAST));
        }
    }
    (lines(&rows, &widths), left_out_headings)
}

/// Names and values, a line each.
pub(super) fn fields<const N: usize>(fields: [(&'static str, String); N]) -> String {
    let rows: Vec<_> = fields.map(|(name, value)| vec![name.to_owned(), printable(&value).into_owned()]).into();
    lines(&rows, &widths_of(&rows, 2))
}

/// How wide each column's widest cell is.
fn widths_of(rows: &[Vec<String>], columns: usize) -> Vec<usize> {
    (0..columns).map(|at| rows.iter().map(|row| row[at].width()).max().unwrap_or_default()).collect()
}

/// How wide a table is.
fn all_of(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
}

/// How wide it is at least with those columns, where all is cut that can be.
fn needed(columns: &[Column], widths: &[usize], kept: &[usize]) -> usize {
    let least = |at: &usize| match columns[*at] {
        Column::Cut(_) => LEAST.min(widths[*at]),
        _ => widths[*at],
    };
    all_of(&kept.iter().map(least).collect::<Vec<_>>())
}

/// The columns that can be left out.
fn in_order_of_going(columns: &[Column]) -> Vec<usize> {
    let order = |at: &usize| if let Column::Optional(_, order) = columns[*at] { Some(order) } else { None };
    let mut optional: Vec<_> = (0..columns.len()).filter(|at| order(at).is_some()).collect();
    optional.sort_by_key(order);
    optional
}

fn lines(rows: &[Vec<String>], widths: &[usize]) -> String {
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(widths).map(|(cell, width)| {
            let cell = cut(cell, *width);
            let padding = width.saturating_sub(cell.width());
            cell + &" ".repeat(padding)
        });
        text.push_str(cells.collect::<Vec<_>>().join(&" ".repeat(GAP)).trim_end());
        text.push('\n');
    }
    text
}

/// The text in that many columns.
fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut room = width.saturating_sub(1);
    let fits = |character: &char| {
        let left = room.checked_sub(character.width().unwrap_or_default());
        room = left.unwrap_or_default();
        left.is_some()
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_lines_whole() {
        let rows = [["é".to_owned(), "-".to_owned()], ["a\nb".to_owned(), "long".to_owned()]];
        assert_eq!(aligned(["ONE", "TWO"], rows.into_iter()), "ONE   TWO\né     -\na\\nb  long\n");
    }

    #[test]
    fn wide_characters_and_accents_count_as_they_are_shown() {
        let rows = [["山田太郎".to_owned(), "a".to_owned()], ["cafe\u{301}s".to_owned(), "b".to_owned()]];
        assert_eq!(aligned(["NAME", "ID"], rows.into_iter()), "NAME      ID\n山田太郎  a\ncafe\u{301}s     b\n");
    }

    #[test]
    fn a_narrow_terminal_gets_less() {
        let columns = [
            Column::Whole("ID"),
            Column::Cut("NAME"),
            Column::Optional("MADE", 1),
            Column::Optional("PREFIX", 0),
            Column::Cut("BY"),
        ];
        let row = ["1234", "山田太郎山田太郎", "2026-01-02", "ccat", "somebody"];
        let shown = |width| {
            let (text, left_out) = fitted(&columns, vec![row.map(str::to_owned).to_vec()], width);
            (text.lines().last().unwrap().to_owned(), left_out)
        };
        let whole = "1234  山田太郎山田太郎  2026-01-02  ccat    somebody";
        assert_eq!(shown(None), (whole.to_owned(), vec![]));
        assert_eq!(shown(Some(52)), (whole.to_owned(), vec![]));
        assert_eq!(shown(Some(51)).0, "1234  山田太郎山田太…  2026-01-02  ccat    somebody");
        assert_eq!(shown(Some(50)).0, "1234  山田太郎山田…   2026-01-02  ccat    somebody");
        assert_eq!(shown(Some(43)), ("1234  山田太郎山田太…  2026-01-02  somebody".to_owned(), vec!["PREFIX"]));
        assert_eq!(shown(Some(25)), ("1234  山田太郎…  somebody".to_owned(), vec!["PREFIX", "MADE"]));
        assert_eq!(shown(Some(1)), shown(Some(25)));
    }

    #[test]
    fn a_wide_column_that_goes_makes_room_for_others() {
        let columns =
            [Column::Whole("ID"), Column::Optional("A", 0), Column::Optional("B", 1), Column::Optional("NEXT", 2)];
        let row = ["1234", "aaaaaaaaaaaaaaaa", "bbbb", "12345678"].map(str::to_owned).to_vec();
        let shown = |width| fitted(&columns, vec![row.clone()], Some(width));
        assert_eq!(shown(20).1, ["A"]);
        assert_eq!(shown(13), ("ID    B\n1234  bbbb\n".to_owned(), vec!["A", "NEXT"]));
        assert_eq!(shown(9).1, ["A", "B", "NEXT"]);
    }
}
