//! [`instant`]: the instant of a column as an SQL expression, by which lists are ordered.

/// Expands to the SQL expression for the instant of a column, in microseconds.
///
/// Values that SQLite cannot convert are earlier than all instants. The expression is deterministic, so it can be indexed.
/// The fraction is cut off before `strftime`, which would round it.
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
