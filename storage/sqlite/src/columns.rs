//! [`columns`]: defines the columns of a statement once, as SQL and as positions by name.

/// Defines the module `$row`, with the position of each column, and the macro `$sql`, with their SQL in the same order. If a
/// column's SQL is not its name, it follows `=`.
macro_rules! columns {
    ($row:ident, $sql:ident: $first:ident $(= $text:literal)? $(, $name:ident $(= $other_text:literal)?)* $(,)?) => {
        macro_rules! $sql {
            () => {
                concat!(
                    $crate::columns::column!($first $(= $text)?)
                    $(, ", ", $crate::columns::column!($name $(= $other_text)?))*
                )
            };
        }
        #[expect(non_camel_case_types, non_upper_case_globals)]
        pub(crate) mod $row {
            enum Position { $first, $($name),* }
            pub(crate) const $first: usize = Position::$first as usize;
            $(pub(crate) const $name: usize = Position::$name as usize;)*
        }
    };
}

macro_rules! column {
    ($name:ident) => {
        stringify!($name)
    };
    ($name:ident = $text:literal) => {
        $text
    };
}

pub(crate) use {column, columns};
