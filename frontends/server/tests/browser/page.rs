//! One page of a browser, used as a person would: by keys and the mouse.

use serde_json::{Value, json};

use crate::devtools::DevTools;

/// A page, with all that happened on it.
pub(crate) struct Page(DevTools);

/// What the form of one endpoint shows.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) status: String,
    pub(crate) headers: String,
    pub(crate) body: String,
    pub(crate) curl: String,
    /// Whether there is a button for the next page.
    pub(crate) next: bool,
}

impl Page {
    pub(crate) fn open(host_rules: &str) -> Option<Self> {
        let mut tools = DevTools::start(host_rules)?;
        let targets = tools.command("Target.getTargets", json!({}));
        let target = targets["targetInfos"].as_array().unwrap().iter().find(|target| target["type"] == "page");
        tools.attach(&target.unwrap()["targetId"]);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            tools.command(&format!("{domain}.enable"), json!({}));
        }
        let mut page = Self(tools);
        page.prefer("light");
        Some(page)
    }

    /// Sets what the reader prefers: a colour scheme, and no motion, for a place that moves cannot be clicked at.
    pub(crate) fn prefer(&mut self, scheme: &str) {
        let preferences = [("prefers-color-scheme", scheme), ("prefers-reduced-motion", "reduce")];
        let features = preferences.map(|(name, value)| json!({ "name": name, "value": value }));
        self.command("Emulation.setEmulatedMedia", json!({ "features": features }));
    }

    pub(crate) fn visit(&mut self, address: &str) {
        let seen = self.0.events.len();
        self.0.command("Page.navigate", json!({ "url": address }));
        self.0.wait_for("Page.loadEventFired", seen);
    }

    #[track_caller]
    pub(crate) fn command(&mut self, method: &str, parameters: Value) -> Value {
        self.0.command(method, parameters)
    }

    /// The value of an expression; a promise's when it is there.
    #[track_caller]
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let parameters = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let mut result = self.command("Runtime.evaluate", parameters);
        assert!(result.get("exceptionDetails").is_none(), "{expression}: {}", result["exceptionDetails"]);
        result["result"]["value"].take()
    }

    /// Moves the focus and puts a text in the place of what is there, as pasting does.
    pub(crate) fn paste(&mut self, selector: &str, text: &str) {
        self.evaluate(&format!(
            "{{ const field = document.querySelector('{selector}'); field.focus(); field.select(); }}"
        ));
        match text {
            "" => self.press("Delete", 46),
            text => _ = self.command("Input.insertText", json!({ "text": text })),
        }
    }

    pub(crate) fn press(&mut self, key: &str, code: u32) {
        let text = if key == "Enter" { "\r" } else { "" };
        for kind in ["keyDown", "keyUp"] {
            let parameters =
                json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text });
            self.command("Input.dispatchKeyEvent", parameters);
        }
    }

    pub(crate) fn click(&mut self, selector: &str) {
        let dir = self.evaluate(&format!(
            "{{ const element = document.querySelector('{selector}');
               element.scrollIntoView({{ behavior: 'instant', block: 'center' }});
               const {{ x, y, width, height }} = element.getBoundingClientRect();
               [x + width / 2, y + height / 2] }}"
        ));
        for kind in ["mousePressed", "mouseReleased"] {
            let parameters = json!({ "type": kind, "x": dir[0], "y": dir[1], "button": "left", "clickCount": 1 });
            self.command("Input.dispatchMouseEvent", parameters);
        }
    }

    /// Opens the "try it" panels that are closed.
    pub(crate) fn open_panels(&mut self) {
        let closed = self.evaluate("document.querySelectorAll('.try:not([open])').length");
        for _ in 0..closed.as_u64().unwrap() {
            self.click(".try:not([open]) summary");
        }
        assert_eq!(self.evaluate("document.querySelectorAll('.try:not([open])').length"), 0);
    }

    /// Does `action`, which makes the form of `path` send, and gives what it shows then.
    pub(crate) fn answer_to(&mut self, path: &str, action: impl FnOnce(&mut Self)) -> Shown {
        let part = format!("document.querySelector('form[data-path=\"{path}\"]').parentElement");
        self.evaluate(&format!(
            "{{ const status = {part}.querySelector('.status');
               window.answered = new Promise((done) => new MutationObserver(() => {{
                 if (!status.textContent.startsWith('Waiting')) done();
               }}).observe(status, {{ childList: true }})); 0 }}"
        ));
        action(self);
        let shown = self.evaluate(&format!(
            "window.answered.then(() => {{
               const part = {part}, text = (name) => part.querySelector(name).innerText;
               const next = part.querySelector('.next');
               return [text('.status'), text('.headers'), text('.body'), text('.curl'), !!next && next.checkVisibility()];
             }})"
        ));
        let text = |index: usize| shown[index].as_str().unwrap().to_owned();
        Shown { status: text(0), headers: text(1), body: text(2), curl: text(3), next: shown[4] == true }
    }

    /// Presses the button of the form of `path`.
    pub(crate) fn send(&mut self, path: &str) -> Shown {
        self.answer_to(path, |page| page.click(&format!("form[data-path=\"{path}\"] [type=submit]")))
    }

    /// All that the browser complained of, but for the statuses of failures that were asked for.
    pub(crate) fn complaints(&self) -> Vec<&Value> {
        let complains = |event: &&Value| match event["method"].as_str().unwrap() {
            "Runtime.exceptionThrown" | "Runtime.consoleAPICalled" => true,
            "Log.entryAdded" => event["params"]["entry"]["source"] != "network",
            _ => false,
        };
        self.0.events.iter().filter(complains).collect()
    }

    /// Every request, as the browser was about to send it.
    pub(crate) fn requests(&self) -> Vec<&Value> {
        let sent = self.0.events.iter().filter(|event| event["method"] == "Network.requestWillBeSent");
        sent.map(|event| &event["params"]["request"]).collect()
    }
}

impl Shown {
    /// The body as JSON, which must be written for readers.
    pub(crate) fn json(&self) -> Value {
        assert!(self.body.starts_with("{\n  \""), "{}", self.body);
        serde_json::from_str(&self.body).unwrap()
    }
}
