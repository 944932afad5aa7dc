//! Writing JSON for readers: keys in the order that people expect, and the same bytes in every build.
//!
//! Whether a JSON object of `serde_json` keeps the order of its keys depends on what else is in the build, so the order
//! is decided here.

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::{Map, Value};

use super::schemas::{Schemas, property_names};
use crate::operation::Operation;

/// The keys that have a place; the paths follow in the order of the operation table, then all others by alphabet.
const KEYWORDS: &str = "\
    openapi info operationId title tags name in parameter reason summary description version contact license \
    servers url email security x-required-scopes paths components schemas parameters responses headers \
    securitySchemes content $ref required type format nullable enum minimum maximum minLength maxLength pattern \
    default properties items additionalProperties schema example examples";

/// `value` with two blanks an indentation.
pub(super) fn pretty(value: &Value, schemas: &Schemas) -> String {
    serde_json::to_string_pretty(&Ordered { value, schemas }).expect("JSON always serialises")
}

/// `value` on one line, with blanks where it may be broken.
pub(super) fn compact(value: &Value, schemas: &Schemas) -> String {
    pretty(value, schemas).lines().map(str::trim_start).collect::<Vec<_>>().join(" ")
}

struct Ordered<'v> {
    value: &'v Value,
    schemas: &'v Schemas,
}

impl<'v> Ordered<'v> {
    fn child(&self, value: &'v Value) -> Self {
        Self { value, schemas: self.schemas }
    }

    /// An object that has the properties of a schema stands in that schema's order, any other in that of [`KEYWORDS`].
    fn keys(&self, object: &'v Map<String, Value>) -> Vec<&'v str> {
        let mut keys: Vec<&str> = object.keys().map(String::as_str).collect();
        let known = match self.schemas.like(object) {
            Some(schema) => property_names(schema),
            None => KEYWORDS.split(' ').chain(Operation::ALL.iter().map(|operation| operation.row().path)).collect(),
        };
        keys.sort_by_key(|&key| (known.iter().position(|&name| name == key).unwrap_or(known.len()), key));
        keys
    }
}

impl Serialize for Ordered<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.value {
            Value::Object(object) => {
                let mut map = serializer.serialize_map(Some(object.len()))?;
                for key in self.keys(object) {
                    map.serialize_entry(key, &self.child(&object[key]))?;
                }
                map.end()
            }
            Value::Array(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    list.serialize_element(&self.child(item))?;
                }
                list.end()
            }
            plain => plain.serialize(serializer),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_stand_in_the_order_of_a_schema_or_of_the_keywords() {
        let schemas = Schemas::collect();
        let module = json!({ "summary": "s", "title": "t", "number": 1 });
        assert_eq!(compact(&module, &schemas), r#"{ "number": 1, "title": "t", "summary": "s" }"#);
        let failure = json!({ "message": "m", "details": {}, "code": "c" });
        assert_eq!(compact(&failure, &schemas), r#"{ "code": "c", "message": "m", "details": {} }"#);
        let info = json!({ "zebra": 1, "version": "v", "title": "t", "apple": [2] });
        assert_eq!(compact(&info, &schemas), r#"{ "title": "t", "version": "v", "apple": [ 2 ], "zebra": 1 }"#);
    }
}
