//! [`Service`]: the program serving a [`Library`], and the results that a client must print.

use std::process::Command;

use serde_json::{Value, json};

use super::library::{ACCOUNT, Library};
use crate::program::{Server, TestDir};
use crate::tools::run;

/// Page size of the clients.
const LIMIT: usize = 17;

/// A running program over a separate database, and a key.
pub(crate) struct Service {
    pub(crate) dir: TestDir,
    pub(crate) server: Server,
    pub(crate) library: Library,
    key: Value,
    /// The served OpenAPI document.
    document: Value,
}

impl Service {
    pub(crate) fn start() -> Self {
        let (dir, library) = (TestDir::new(), Library::new());
        dir.write("courses.jsonl", library.lines());
        dir.run("import courses.jsonl").succeeds();
        let scopes = "read:profile read:courses";
        let key = dir.run(&format!("keys create --account {ACCOUNT} --name n --scope {scopes} --json")).json();
        let server = Server::start(&mut dir.command("serve --listen 127.0.0.1:0 --log warn"));
        let (status, document) = server.get("/docs/openapi.json", "");
        assert_eq!(status, 200);
        dir.write("openapi-3.0.json", dir.run("openapi --format json-3.0").succeeds());
        Self { dir, server, library, key, document }
    }

    pub(crate) fn token(&self) -> &str {
        self.key["token"].as_str().unwrap()
    }

    /// Returns the URL of the OpenAPI document.
    pub(crate) fn document_url(&self) -> String {
        format!("http://{}/docs/openapi.json", self.server.address)
    }

    /// Runs a client's program and asserts that it prints the whole catalogue.
    pub(crate) fn assert_read_by(&self, program: &mut Command) {
        // The document contains the server's URL relative to the URL of the document.
        let base_path = self.document["servers"][0]["url"].as_str().unwrap();
        program.env("BASE_URL", format!("http://{}{base_path}", self.server.address));
        program.env("TOKEN", self.token()).env("NO_PROXY", "127.0.0.1");
        let actual: Value = serde_json::from_str(&run(program)).unwrap();

        let me = json!({ "userId": ACCOUNT, "apiKeyId": self.key["id"], "scopes": self.key["scopes"] });
        assert_eq!(actual["me"], me);
        assert_each(&actual["courses"], &self.library.items());
        assert_each(&actual["details"], &self.library.details());
        assert_eq!(actual["pages"], self.library.items().len().div_ceil(LIMIT));
        let failures = [(404, "not_found"), (401, "unauthorized"), (400, "invalid_request"), (400, "invalid_request")];
        let failures = failures.map(|(status, code)| json!({ "status": status, "code": code }));
        assert_eq!(actual["failures"], json!(failures));
        assert_eq!(actual["document"], self.document);
    }
}

/// Asserts that two lists are equal, item by item.
#[track_caller]
fn assert_each(actual: &Value, expected: &[Value]) {
    let actual = actual.as_array().unwrap();
    for (actual, expected) in actual.iter().zip(expected) {
        assert_eq!(actual, expected);
    }
    assert_eq!(actual.len(), expected.len());
}
