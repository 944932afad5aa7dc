//! Schemas of all responses, generated from the serialized types.

use schemars::Schema;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::transform::RecursiveTransform;
use serde_json::{Map, Value};

use crate::operation::Operation;
use crate::response::envelope::Failure;

/// Path of the schemas in the OpenAPI document.
pub(super) const PREFIX: &str = "#/components/schemas/";

/// Schemas of all responses, by name.
#[derive(Debug)]
pub(super) struct Schemas {
    pub(super) components: Map<String, Value>,
    responses: Vec<Value>,
    pub(super) failure: Value,
}

impl Schemas {
    pub(super) fn collect() -> Self {
        let settings = SchemaSettings::draft2020_12()
            .for_serialize()
            .with_transform(RecursiveTransform(tidy))
            .with(|settings| settings.definitions_path = PREFIX.trim_start_matches('#').trim_end_matches('/').into());
        let mut generator: SchemaGenerator = settings.into_generator();
        let responses =
            Operation::ALL.iter().map(|operation| (operation.spec().schema)(&mut generator).into()).collect();
        let failure = generator.subschema_for::<Failure<'static>>().into();
        Self { components: generator.take_definitions(true), responses, failure }
    }

    /// Returns the schema of a successful response of `operation`.
    pub(super) fn response(&self, operation: Operation) -> &Value {
        &self.responses[operation as usize]
    }

    /// Returns the named objects that `schema` consists of, each once, outer ones first.
    pub(super) fn objects_in(&self, schema: &Value) -> Vec<(&str, &Value)> {
        let mut objects = Vec::new();
        self.collect_objects(schema, &mut objects);
        objects
    }

    /// Returns `schema` on one line: the properties of its objects, each with its type.
    pub(super) fn sketch(&self, schema: &Value) -> String {
        let schema = name_of(schema).and_then(|name| self.components.get(name)).unwrap_or(schema);
        if schema.get("properties").is_some() {
            let property = |name| format!("\"{name}\": {}", self.sketch(&schema["properties"][name]));
            let properties: Vec<String> = property_names(schema).map(property).collect();
            return format!("{{ {} }}", properties.join(", "));
        }
        match &schema["type"] {
            Value::String(kind) if kind == "array" => format!("[{}]", self.sketch(&schema["items"])),
            Value::String(kind) => kind.clone(),
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" | "),
            _ => "any".to_owned(),
        }
    }

    fn collect_objects<'s>(&'s self, schema: &Value, objects: &mut Vec<(&'s str, &'s Value)>) {
        let Some((name, object)) = name_of(schema).and_then(|name| self.components.get_key_value(name)) else {
            if let Some(items) = schema.get("items") {
                self.collect_objects(items, objects);
            }
            return;
        };
        if object.get("properties").is_none() || objects.iter().any(|(known, _)| known == name) {
            return;
        }
        objects.push((name, object));
        for property in property_names(object) {
            self.collect_objects(&object["properties"][property], objects);
        }
    }
}

/// Returns the name in a reference.
pub(super) fn name_of(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.strip_prefix(PREFIX)
}

/// Returns all properties of an object, in the order of its fields.
pub(super) fn property_names(schema: &Value) -> impl Iterator<Item = &str> {
    schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys).map(String::as_str)
}

/// Prepares a schema for readers of the document: removes references to sections of the contract, and replaces the format
/// `uint32`, which OpenAPI does not define.
fn tidy(schema: &mut Schema) {
    if let Some(Value::String(description)) = schema.get_mut("description") {
        *description = without_section(description);
    }
    if schema.get("format").and_then(Value::as_str) == Some("uint32") {
        schema.insert("format".to_owned(), "int64".into());
    }
}

/// Returns `text` without a reference like `(section 2.1)`.
fn without_section(text: &str) -> String {
    let cut = |(before, rest): (&str, &str)| Some(format!("{before}{}", rest.split_once(')')?.1));
    text.split_once(" (section ").and_then(cut).unwrap_or_else(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_omit_section_numbers() {
        assert_eq!(without_section("A module (section 2.4). No body."), "A module. No body.");
        assert_eq!(without_section("A module."), "A module.");
    }

    #[test]
    fn sketches_include_every_property() {
        let schemas = Schemas::collect();
        assert_eq!(
            schemas.sketch(schemas.response(Operation::GetMe)),
            r#"{ "data": { "userId": string, "apiKeyId": string, "scopes": [string] } }"#
        );
        assert!(
            schemas.sketch(schemas.response(Operation::ListCourses)).ends_with(r#""nextCursor": string | null } }"#)
        );
    }

    #[test]
    fn objects_are_listed_outermost_first() {
        let schemas = Schemas::collect();
        let names = |schema| schemas.objects_in(schema).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
        assert_eq!(names(schemas.response(Operation::GetCourse)), ["CourseDetailEnvelope", "CourseDetail", "Module"]);
        assert_eq!(names(&schemas.failure), ["ErrorEnvelope", "ErrorBody"]);
    }
}
