//! Values of views as databases provide them, with their columns and their account.

use crate::timestamp::Timestamp;

/// The value of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'r> {
    /// No value.
    Null,
    /// An integer.
    Integer(i64),
    /// A boolean.
    Boolean(bool),
    /// A text.
    Text(&'r str),
    /// Bytes.
    Bytes(&'r [u8]),
    /// An instant.
    Time(Timestamp),
    /// A value of another type, by the type's name.
    Typed(&'r str),
    /// A value that no column may have, described for people, such as `a real number`.
    Other(&'r str),
}

/// A row of a database.
pub trait Cells<'r>: Copy {
    /// Description of a valid time.
    const TIME: &'static str;
    /// Description of a valid boolean.
    const FLAG: &'static str;

    /// Returns the value at a position.
    fn value(self, position: usize) -> Value<'r>;
}

/// A column of a statement: its position and its name.
#[derive(Clone, Copy, Debug)]
pub struct Column(pub usize, pub &'static str);

/// First columns of the statements for a page, in the reverse order of most tables. SQLite decodes a row's header up to the
/// requested column: if the table's last column is requested first, the header is decoded once.
#[derive(Debug)]
pub enum Page {}

#[allow(missing_docs)]
impl Page {
    pub const MODULE_COUNT: Column = Column(0, "module_count");
    pub const HIDDEN: Column = Column(1, "hidden");
    pub const PUBLISHED_AT: Column = Column(2, "published_at");
    pub const CREATED_AT: Column = Column(3, "created_at");
    pub const LANGUAGE: Column = Column(4, "language");
    pub const TITLE: Column = Column(5, "title");
    pub const SLUG: Column = Column(6, "slug");
    pub const ACCOUNT_ID: Column = Column(7, "account_id");
    pub const KEY: &[usize] = &[7, 6];
}

/// Account whose rows are read. A numeric column also matches the id `012`, so `number` requires the usual notation.
#[derive(Clone, Copy, Debug)]
pub struct Owner<'a> {
    pub(super) id: &'a str,
    /// The id as a number, if it is the usual notation of a number.
    pub(super) number: Option<i64>,
}

impl<'a> Owner<'a> {
    /// Creates the owner with the account id `id`.
    #[must_use]
    pub fn new(id: &'a str) -> Self {
        Self { id, number: id.parse().ok().filter(|number: &i64| number.to_string() == id) }
    }
}

/// Parses an RFC 3339 text, which may have a space before the time, and may then lack an offset.
pub(super) fn parse(text: &str) -> Option<Timestamp> {
    let bytes = text.as_bytes();
    if bytes.get(10) != Some(&b' ') {
        return Timestamp::parse(text).ok();
    }
    // A buffer on the stack: a page of fifty courses has a hundred times.
    let mut time = [b'Z'; 40];
    time[..39].get_mut(..bytes.len())?.copy_from_slice(bytes);
    time[10] = b'T';
    let has_offset = !bytes.iter().skip(19).all(|byte| matches!(byte, b'.' | b'0'..=b'9'));
    Timestamp::parse(std::str::from_utf8(&time[..bytes.len() + usize::from(!has_offset)]).ok()?).ok()
}

/// Describes a value for people, truncated if it is long.
pub(super) fn display_value(value: Value<'_>) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Integer(number) => number.to_string(),
        Value::Boolean(flag) => flag.to_string(),
        Value::Time(time) => time.to_string(),
        Value::Text(text) => {
            let is_plain = !text.is_empty() && text.len() <= 200 && !text.chars().any(char::is_control);
            if is_plain { text.to_owned() } else { format!("{:?}", text.chars().take(60).collect::<String>()) }
        }
        Value::Bytes(_) => "a blob".to_owned(),
        Value::Typed(name) => format!("of the type {name}"),
        Value::Other(kind) => kind.to_owned(),
    }
}
