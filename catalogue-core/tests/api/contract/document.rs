//! The OpenAPI document, as responses are checked against it: operations, their responses, and compiled schemas.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use catalogue_core::storage::MemoryStorage;
use catalogue_core::{Catalogue, DocumentFormat};
use http::HeaderName;
use jsonschema::{Draft, Validator};
use serde_json::{Value, json};

use crate::app::{BASE, DOCS};

/// Document of a catalogue at the usual URLs. `served_documents_equal_generated_ones` compares the served one with it.
pub(super) static DOCUMENT: LazyLock<Document> = LazyLock::new(|| Document::read(&printed()));

/// The descriptions of responses in the document.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) operations: Vec<Operation>,
    /// The schema of every failure.
    pub(super) failure: Validator,
}

#[derive(Debug)]
pub(super) struct Operation {
    pub(super) id: String,
    /// Relative to the base URL, such as `/courses/{slug}`.
    pub(super) path: String,
    /// The scopes that a credential needs.
    pub(super) scopes: Vec<String>,
    pub(super) parameters: BTreeMap<String, Parameter>,
    pub(super) responses: BTreeMap<u16, Response>,
}

#[derive(Debug)]
pub(super) struct Parameter {
    /// The schema before it is compiled.
    pub(super) bounds: Value,
    pub(super) schema: Validator,
}

#[derive(Debug)]
pub(super) struct Response {
    pub(super) headers: Vec<Header>,
    /// The media type and the schema of the body; `None` if the body is empty.
    pub(super) content: Option<(String, Validator)>,
    /// Example bodies.
    pub(super) examples: Vec<Value>,
}

#[derive(Debug)]
pub(super) struct Header {
    pub(super) name: HeaderName,
    pub(super) is_required: bool,
    pub(super) is_number: bool,
    pub(super) schema: Validator,
}

/// Returns the document as a tree.
pub(super) fn printed() -> Value {
    let catalogue = Catalogue::with_api_keys(MemoryStorage::new()).base_url(BASE).docs_url(DOCS).build().unwrap();
    serde_json::from_str(&catalogue.document(DocumentFormat::OpenApi)).unwrap()
}

impl Document {
    pub(super) fn read(document: &Value) -> Self {
        let reader = Reader(document);
        let paths = document["paths"].as_object().unwrap();
        let operations = paths.iter().map(|(path, item)| reader.operation(path, &item["get"])).collect();
        Self { operations, failure: reader.compile(&json!({ "$ref": "#/components/schemas/ErrorEnvelope" })) }
    }

    /// Returns the operation at a path below the base URL.
    pub(super) fn at(&self, path: &str) -> Option<&Operation> {
        self.operations.iter().find(|operation| operation.is_at(path))
    }
}

impl Operation {
    fn is_at(&self, path: &str) -> bool {
        let (template, path): (Vec<_>, Vec<_>) = (self.path.split('/').collect(), path.split('/').collect());
        let fits = |(expected, segment): (&&str, &&str)| {
            if expected.starts_with('{') { !segment.is_empty() } else { expected == segment }
        };
        template.len() == path.len() && template.iter().zip(&path).all(fits)
    }
}

/// Reads parts of the document, and resolves their references to other parts.
struct Reader<'d>(&'d Value);

impl Reader<'_> {
    fn operation(&self, path: &str, operation: &Value) -> Operation {
        // Only schemes with flows list scopes in the requirement itself; others have `x-required-scopes`.
        let ways = operation["security"].as_array().unwrap().iter().flat_map(|way| way.as_object().unwrap().values());
        let scopes = ways.chain(operation.get("x-required-scopes")).flat_map(|scopes| scopes.as_array().unwrap());
        let parameters = operation["parameters"].as_array().into_iter().flatten().map(|parameter| {
            let (parameter, bounds) = (self.resolve(parameter), &self.resolve(parameter)["schema"]);
            let name = parameter["name"].as_str().unwrap().to_owned();
            let schema = self.compile(bounds);
            assert!(parameter["description"].as_str().unwrap().ends_with('.'), "invalid description: {parameter}");
            assert!(
                parameter.get("example").is_none_or(|example| schema.is_valid(example)),
                "invalid example: {parameter}"
            );
            (name, Parameter { bounds: bounds.clone(), schema })
        });
        let responses = operation["responses"].as_object().unwrap().iter();
        Operation {
            id: operation["operationId"].as_str().unwrap().to_owned(),
            path: path.to_owned(),
            scopes: scopes.map(|scope| scope.as_str().unwrap().to_owned()).collect(),
            parameters: parameters.collect(),
            responses: responses
                .map(|(status, response)| (status.parse().unwrap(), self.response(self.resolve(response))))
                .collect(),
        }
    }

    fn response(&self, response: &Value) -> Response {
        let headers = response["headers"].as_object().into_iter().flatten();
        let headers = headers.map(|(name, header)| self.header(name, self.resolve(header))).collect();
        let contents: Vec<_> = response.get("content").and_then(Value::as_object).into_iter().flatten().collect();
        let [(media_type, content)] = contents[..] else {
            assert!(contents.is_empty(), "a response has at most one media type: {response}");
            return Response { headers, content: None, examples: Vec::new() };
        };
        let examples = content["examples"].as_object().into_iter().flatten();
        Response {
            headers,
            content: Some((media_type.clone(), self.compile(&content["schema"]))),
            examples: examples.map(|(_, example)| self.resolve(example)["value"].clone()).collect(),
        }
    }

    fn header(&self, name: &str, header: &Value) -> Header {
        Header {
            name: name.parse().unwrap(),
            is_required: header["required"] == true,
            is_number: header["schema"]["type"] == "integer",
            schema: self.compile(&header["schema"]),
        }
    }

    /// Returns the target of a local reference, or `value` itself.
    fn resolve<'v>(&'v self, value: &'v Value) -> &'v Value {
        match value.get("$ref").and_then(Value::as_str) {
            Some(reference) => self.0.pointer(reference.strip_prefix('#').unwrap()).unwrap(),
            None => value,
        }
    }

    /// Compiles a schema with the components that it may refer to.
    fn compile(&self, schema: &Value) -> Validator {
        let mut root = schema.clone();
        root["components"] = self.0["components"].clone();
        let options = jsonschema::options().with_draft(Draft::Draft202012).should_validate_formats(true);
        options.build(&root).unwrap_or_else(|error| panic!("{error}: {schema}"))
    }
}
