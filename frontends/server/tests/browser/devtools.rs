//! Chromium and its `DevTools` protocol over two pipes: JSON messages that end with a zero byte.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::skip::or_skip_unless;

/// Names of Chromium's program.
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
/// Runs Chromium, which reads commands from descriptor 3 and writes messages to descriptor 4, and then removes its profile.
const SCRIPT: &str = r#"exec 3<&0 4>&1 </dev/null >/dev/null; "$@"; rm -rf "$0""#;
/// Timeout for messages of the browser.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

/// A running browser. It exits when the test process ends, which closes the pipes.
pub(crate) struct DevTools {
    input: ChildStdin,
    messages: Receiver<Value>,
    last_id: u64,
    /// All events by session; the session of the browser itself is the empty string.
    events: HashMap<String, Vec<Value>>,
}

impl DevTools {
    /// Starts a browser that can connect only to this machine. Returns `None` if none is installed and none is required.
    pub(crate) fn start() -> Option<Self> {
        let program = or_skip_unless("chromium", installed().ok_or_else(|| "not installed".to_owned()))?;
        let profile = tempfile::tempdir().unwrap().keep();
        let mut command = Command::new("sh");
        command.args(["-c", SCRIPT]).arg(&profile).arg(program);
        command.args(["--headless", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-quic"]);
        command.args(["--no-first-run", "--disable-background-networking", "--disable-component-update"]);
        command.args(["--disable-sync", "--disable-extensions", "--disable-dev-shm-usage", "about:blank"]);
        command.arg("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost");
        command.arg(format!("--user-data-dir={}", profile.display()));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut message = Vec::new();
            while output.read_until(0, &mut message).is_ok_and(|read| read > 0) {
                message.pop();
                if sender.send(serde_json::from_slice(&message).unwrap()).is_err() {
                    return;
                }
                message.clear();
            }
            let _ = child.wait();
        });
        Some(Self { input, messages, last_id: 0, events: HashMap::new() })
    }

    /// Opens a session with a page and returns its id.
    pub(crate) fn attach(&mut self, target: &Value) -> String {
        let attached = self.command("", "Target.attachToTarget", json!({ "targetId": target, "flatten": true }));
        attached["sessionId"].as_str().unwrap().to_owned()
    }

    /// Sends a command to a page, or to the browser if `session` is empty, and waits for its result.
    #[track_caller]
    pub(crate) fn command(&mut self, session: &str, method: &str, parameters: Value) -> Value {
        self.last_id += 1;
        let mut message = json!({ "id": self.last_id, "method": method });
        message["params"] = parameters;
        if !session.is_empty() {
            message["sessionId"] = session.into();
        }
        write!(self.input, "{message}\0").unwrap();
        loop {
            let mut response = self.receive();
            if response["id"] == self.last_id {
                assert!(response.get("error").is_none(), "{method}: {}", response["error"]);
                return response["result"].take();
            }
        }
    }

    /// Returns all events of a page.
    pub(crate) fn events(&self, session: &str) -> &[Value] {
        self.events.get(session).map_or(&[], Vec::as_slice)
    }

    /// Waits for an event `method` after the first `already_received` events.
    pub(crate) fn wait_for(&mut self, session: &str, method: &str, already_received: usize) {
        while !self.events(session)[already_received..].iter().any(|event| event["method"] == method) {
            self.receive();
        }
    }

    /// Returns the next message. Events are also recorded.
    fn receive(&mut self) -> Value {
        let message = self.messages.recv_timeout(TIMEOUT).expect("Chromium has exited or does not respond");
        if message.get("method").is_some() {
            let session = message["sessionId"].as_str().unwrap_or_default().to_owned();
            self.events.entry(session).or_default().push(message.clone());
        }
        message
    }
}

fn installed() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let mut programs = NAMES.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    programs.find(|program| program.is_file())
}
