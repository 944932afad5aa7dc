//! Bodies of successful responses as JSON (section 1): [`Reply`], the result of an operation, and [`ListBody`], the items
//! of a page, written while the storage reads them.

use schemars::JsonSchema;
use serde::Serialize;

use crate::cursor::Cursor;
use crate::model::Revision;

/// Usual size of an item of a page, in bytes.
const TYPICAL_ITEM_BYTES: usize = 224;

/// Usual size of the body of a course, in bytes, so that the buffer rarely grows.
const TYPICAL_BODY_BYTES: usize = 2 << 10;

/// The envelope of a success (section 1).
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "{T}Envelope")]
pub(crate) struct Success<'d, T> {
    /// The requested resource.
    data: &'d T,
}

/// The envelope of one page of a list (section 4.2).
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "{T}Page")]
pub(crate) struct SuccessPage<'d, T> {
    /// The items of this page, in the list's order.
    pub(crate) data: &'d [T],
    /// Cursor of the next page; always present.
    pub(crate) meta: PaginationMeta<'d>,
}

/// Pagination metadata of a page (section 2.5).
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "PaginationMeta")]
pub(crate) struct PaginationMeta<'d> {
    /// Opaque cursor to pass as the `cursor` query parameter for the next page; null when there is no further page.
    pub(crate) next_cursor: Option<&'d str>,
}

/// Rendered result of an operation.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) body: Vec<u8>,
    /// URL of the next page, relative to the base URL (decision A18).
    pub(crate) next: Option<String>,
    /// Revision of the courses in it, if the storage has revisions.
    pub(crate) revision: Option<Revision>,
}

impl Reply {
    /// Renders `data` in the envelope of a success.
    pub(crate) fn of(data: &impl Serialize) -> Self {
        Self { body: json(&Success { data }), next: None, revision: None }
    }
}

/// Body of a page without its end: an envelope whose `data` is still open.
///
/// The finished body has the same bytes as a serialized [`SuccessPage`], without intermediate strings.
#[derive(Debug)]
pub(crate) struct ListBody {
    json: Vec<u8>,
    items: usize,
}

impl ListBody {
    /// Creates a body with capacity for `items` items of usual size.
    pub(crate) fn with_capacity(items: usize) -> Self {
        let mut json = Vec::with_capacity((items + 1) * TYPICAL_ITEM_BYTES);
        json.extend_from_slice(br#"{"data":["#);
        Self { json, items: 0 }
    }

    /// Adds the next item, which `write` appends as JSON.
    pub(crate) fn push(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        if self.items > 0 {
            self.json.push(b',');
        }
        write(&mut self.json);
        self.items += 1;
    }

    /// Returns the whole body, with the cursor of the next page.
    pub(crate) fn finish(mut self, next: Option<&Cursor>) -> Vec<u8> {
        self.json.extend_from_slice(b"],\"meta\":");
        write(&mut self.json, &PaginationMeta { next_cursor: next.map(Cursor::as_str) });
        self.json.push(b'}');
        self.json
    }
}

pub(crate) fn json<T: Serialize>(value: &T) -> Vec<u8> {
    let mut body = Vec::with_capacity(TYPICAL_BODY_BYTES);
    write(&mut body, value);
    body
}

pub(super) fn write<T: Serialize + ?Sized>(json: &mut Vec<u8>, value: &T) {
    serde_json::to_writer(json, value)
        .expect("texts, numbers and lists always serialize, and writing to a Vec cannot fail");
}
