//! Tests of the serverless function.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::data::{ACCOUNT, Data};
use crate::program::example;

/// Returns the responses to `events`, in their order, and the log.
fn responses(data: &Data, events: &[String]) -> (Vec<Value>, String) {
    let mut command = example("serverless");
    command.args(["--database", &data.database_url()]).stdin(Stdio::piped());
    let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    process.stdin.take().unwrap().write_all(events.join("\n").as_bytes()).unwrap();
    let output = process.wait_with_output().unwrap();
    assert!(output.status.success());
    let out = String::from_utf8(output.stdout).unwrap();
    (out.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), String::from_utf8(output.stderr).unwrap())
}

#[tokio::test]
async fn each_event_gets_a_response() {
    let data = Data::new().await;
    let key = data.key().await;
    let headers = json!({ "Authorization": format!("Bearer {}", key.expose()), "Accept-Encoding": "gzip" });
    let event = |method: &str, path: &str, query: &str| {
        json!({ "method": method, "path": path, "query": query, "headers": headers }).to_string()
    };
    let events = [
        event("GET", "/api/v1/courses", "limit=1"),
        event("HEAD", "/api/v1/me", ""),
        json!({ "method": "GET", "path": "/api/v1/me" }).to_string(),
        event("GET", "/elsewhere", ""),
        "nonsense".to_owned(),
        event("GET", "/a b", ""),
        json!({ "method": "GET", "path": "/", "headers": key.expose() }).to_string(),
        event("GET", "/api/v1/me", ""),
    ];
    let (responses, log) = responses(&data, &events);
    let statuses: Vec<_> = responses.iter().map(|response| response["status"].as_u64().unwrap()).collect();
    assert_eq!(statuses, [200, 200, 401, 404, 400, 400, 400, 200]);
    let body = |response: &Value| serde_json::from_str::<Value>(response["body"].as_str().unwrap()).unwrap();
    assert_eq!(body(&responses[0])["data"][0]["slug"], "two");
    assert_eq!(responses[0]["headers"]["content-type"], "application/json");
    assert_eq!(responses[1]["body"], "");
    assert_eq!(body(&responses[2])["error"]["code"], "unauthorized");
    assert_eq!(body(&responses[7])["data"]["userId"], ACCOUNT);
    assert!(log.contains("invalid event: ") && !log.contains(key.expose()), "{log}");
}

#[test]
fn missing_database_exits_1() {
    let directory = tempfile::tempdir().unwrap();
    let output = example("serverless").current_dir(directory.path()).stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("catalogue.db") && message.lines().count() == 1, "{message}");
}
