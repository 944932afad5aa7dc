//! [`Site`]: the program serving a small catalogue for a browser.

use serde_json::{Value, json};

use crate::page::Page;
use crate::program::{Server, TestDir};

/// Text that would run as a script if the page did not escape it.
pub(crate) const HOSTILE: &str = "<img src=x onerror=alert(1)></pre><script>alert(2)</script>";

/// Slug of the oldest course, which must be percent-encoded exactly once.
pub(crate) const ESCAPES: &str = "100%2D & 'été'";

/// A running program with five courses of one account, and a key to it.
pub(crate) struct Site {
    server: Server,
    pub(crate) key: String,
    _guard: TestDir,
}

impl Site {
    pub(crate) fn start(arguments: &str) -> Self {
        let dir = TestDir::new();
        dir.write("courses.jsonl", courses());
        dir.run("import courses.jsonl").succeeds();
        let key = dir.run("keys create --account a --name n --scope read:profile read:courses").succeeds();
        let server = Server::start(&mut dir.command(&format!("serve --listen 127.0.0.1:0 --log warn {arguments}")));
        Self { server, key: key.trim_end().to_owned(), _guard: dir }
    }

    /// Opens a page in a browser that can reach only this machine, with the site also as `docs.test` and `api.test`.
    pub(crate) fn browser(&self) -> Option<Page> {
        let address = &self.server.address;
        Page::open(&format!("MAP docs.test {address}, MAP api.test {address}, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"))
    }

    pub(crate) fn origin(&self) -> String {
        format!("http://{}", self.server.address)
    }

    /// Requests `path` without the browser, and returns the body.
    pub(crate) fn get(&self, path: &str) -> Value {
        self.server.get(path, &self.key).1
    }
}

fn courses() -> String {
    let mut lines = vec![json!({ "type": "account", "id": "a", "name": "A", "email": "" })];
    lines.extend((1..=5).map(|number| {
        json!({
            "type": "course", "account": "a", "slug": format!("course-{number}"), "title": HOSTILE, "tagline": "",
            "language": "en", "createdAt": format!("2020-01-0{number}T00:00:00Z"), "publishedAt": null,
            "hidden": false, "accessMode": null, "modules": [],
        })
    }));
    lines[1]["slug"] = json!(ESCAPES);
    lines.iter().map(|line| format!("{line}\n")).collect()
}
