//! The instant of a column in SQL, to order by.

/// The SQL expression for the instant of a column, in microseconds. What SQLite cannot
/// convert is earlier than all instants.
///
/// It is deterministic, so an index can have it. The fraction is cut before `strftime` sees it, which would round.
macro_rules! instant {
    ($column:expr) => {
        concat!(
            "coalesce(CASE typeof(",
            $column,
            ") WHEN 'integer' THEN ",
            $column,
            " WHEN 'text' THEN CAST(strftime('%s', substr(",
            $column,
            ", 1, 19) || ltrim(substr(",
            $column,
            ", 20), '.0123456789')) AS INTEGER) * 1000000 + CAST(round(CAST('0' || substr(",
            $column,
            ", 20, 7) AS REAL) * 1000000) AS INTEGER) END, -1000000000000000000)"
        )
    };
}
pub(super) use instant;

#[cfg(test)]
mod tests;
