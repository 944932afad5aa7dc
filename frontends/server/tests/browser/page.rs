//! A page of a browser, used by keyboard and mouse as a person would.

use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde_json::{Value, json};

use crate::devtools::{DevTools, TIMEOUT};

/// A page with its recorded events.
pub(crate) struct Page {
    session: String,
    /// Browser context with separate cookies and storage.
    context: Value,
}

/// Browser that all pages share.
static BROWSER: LazyLock<Option<Mutex<DevTools>>> = LazyLock::new(|| DevTools::start().map(Mutex::new));

/// The displayed response in the form of one endpoint.
#[derive(Debug)]
pub(crate) struct FormResponse {
    pub(crate) status: String,
    pub(crate) headers: String,
    pub(crate) body: String,
    pub(crate) curl: String,
    /// Whether the button for the next page is visible.
    pub(crate) next: bool,
}

impl Page {
    /// Opens a page without cookies or storage. Returns `None` if no browser is installed and none is required.
    pub(crate) fn fresh() -> Option<Self> {
        let mut browser = BROWSER.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        let context = browser.command("", "Target.createBrowserContext", json!({}))["browserContextId"].take();
        let target = json!({ "url": "about:blank", "browserContextId": context });
        let target = browser.command("", "Target.createTarget", target);
        let session = browser.attach(&target["targetId"]);
        drop(browser);
        let mut page = Self { session, context };
        for domain in ["Page", "Runtime", "Log", "Network"] {
            page.command(&format!("{domain}.enable"), json!({}));
        }
        // Several pages share the browser, and each must act as if it had the focus.
        page.command("Emulation.setFocusEmulationEnabled", json!({ "enabled": true }));
        page.prefer("light");
        Some(page)
    }

    fn tools(&self) -> MutexGuard<'static, DevTools> {
        BROWSER.as_ref().unwrap().lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the size of the window.
    pub(crate) fn resize(&mut self, width: u32) {
        let is_mobile = width < 500;
        let size = json!({ "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": is_mobile });
        self.command("Emulation.setDeviceMetricsOverride", size);
    }

    pub(crate) fn enable_scripts(&mut self, enabled: bool) {
        self.command("Emulation.setScriptExecutionDisabled", json!({ "value": !enabled }));
    }

    /// Sets the preferred color scheme, and reduced motion, as moving elements cannot be clicked reliably.
    pub(crate) fn prefer(&mut self, scheme: &str) {
        let preferences = [("prefers-color-scheme", scheme), ("prefers-reduced-motion", "reduce")];
        let features = preferences.map(|(name, value)| json!({ "name": name, "value": value }));
        self.command("Emulation.setEmulatedMedia", json!({ "features": features }));
    }

    pub(crate) fn visit(&mut self, address: &str) {
        self.navigate(|page| _ = page.command("Page.navigate", json!({ "url": address })));
    }

    /// Runs `action`, which navigates to another page, and waits until the other page has loaded.
    pub(crate) fn navigate(&mut self, action: impl FnOnce(&mut Self)) {
        self.until_event("Page.loadEventFired", action);
        // The browser discards input before the first paint.
        self.until("performance.getEntriesByType('paint').length > 0");
    }

    /// Goes back, possibly to a page in the back/forward cache.
    pub(crate) fn back(&mut self) {
        let history = self.command("Page.getNavigationHistory", json!({}));
        let current = usize::try_from(history["currentIndex"].as_u64().unwrap()).unwrap();
        let entry = json!({ "entryId": history["entries"][current - 1]["id"] });
        self.until_event("Page.frameNavigated", |page| _ = page.command("Page.navigateToHistoryEntry", entry));
        self.until("document.readyState === 'complete'");
    }

    fn until_event(&mut self, method: &str, action: impl FnOnce(&mut Self)) {
        let already_received = self.tools().events(&self.session).len();
        action(self);
        self.tools().wait_for(&self.session, method, already_received);
    }

    #[track_caller]
    pub(crate) fn command(&mut self, method: &str, parameters: Value) -> Value {
        self.tools().command(&self.session, method, parameters)
    }

    /// Grants this page's context access to the clipboard.
    pub(crate) fn allow_clipboard(&mut self) {
        let permissions = json!(["clipboardReadWrite", "clipboardSanitizedWrite"]);
        let parameters = json!({ "permissions": permissions, "browserContextId": self.context });
        self.tools().command("", "Browser.grantPermissions", parameters);
    }

    /// Waits until the expression `condition` is true.
    #[track_caller]
    pub(crate) fn until(&mut self, condition: &str) {
        let begin = Instant::now();
        while self.evaluate(condition) != true {
            assert!(begin.elapsed() < TIMEOUT, "never true: {condition}");
        }
    }

    /// Returns the value of an expression; awaits it if it is a promise.
    #[track_caller]
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let parameters = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let mut result = self.command("Runtime.evaluate", parameters);
        assert!(result.get("exceptionDetails").is_none(), "{expression}: {}", result["exceptionDetails"]);
        result["result"]["value"].take()
    }

    /// Moves the focus to a field and replaces its text, as pasting does.
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
        self.click_times(selector, 1);
    }

    /// Clicks `times` times, faster than any person.
    pub(crate) fn click_times(&mut self, selector: &str, times: u32) {
        let center = self.evaluate(&format!(
            "{{ const element = document.querySelector('{selector}');
               element.scrollIntoView({{ behavior: 'instant', block: 'center' }});
               const {{ x, y, width, height }} = element.getBoundingClientRect();
               [x + width / 2, y + height / 2] }}"
        ));
        for count in 1..=times {
            for kind in ["mousePressed", "mouseReleased"] {
                let parameters =
                    json!({ "type": kind, "x": center[0], "y": center[1], "button": "left", "clickCount": count });
                self.command("Input.dispatchMouseEvent", parameters);
            }
        }
    }

    /// Opens all "try it" panels.
    pub(crate) fn open_panels(&mut self) {
        let closed = self.evaluate("document.querySelectorAll('.try:not([open])').length");
        for _ in 0..closed.as_u64().unwrap() {
            self.click(".try:not([open]) summary");
        }
        assert_eq!(self.evaluate("document.querySelectorAll('.try:not([open])').length"), 0);
    }

    /// Runs `action`, which sends the form of `path`, and returns the displayed response.
    pub(crate) fn response_to(&mut self, path: &str, action: impl FnOnce(&mut Self)) -> FormResponse {
        let part = format!("document.querySelector('form[data-path=\"{path}\"]').parentElement");
        self.evaluate(&format!(
            "{{ const status = {part}.querySelector('.status');
               window.answered = new Promise((done) => new MutationObserver(() => {{
                 if (!status.textContent.startsWith('Waiting')) done();
               }}).observe(status, {{ childList: true }})); 0 }}"
        ));
        action(self);
        let displayed = self.evaluate(&format!(
            "window.answered.then(() => {{
               const part = {part}, text = (name) => part.querySelector(name).innerText;
               const next = part.querySelector('.next');
               return [text('.status'), text('.headers'), text('.body'), text('.curl'), !!next && next.checkVisibility()];
             }})"
        ));
        let text = |index: usize| displayed[index].as_str().unwrap().to_owned();
        FormResponse { status: text(0), headers: text(1), body: text(2), curl: text(3), next: displayed[4] == true }
    }

    /// Clicks the button of the form of `path`, and returns the displayed response.
    pub(crate) fn send(&mut self, path: &str) -> FormResponse {
        self.response_to(path, |page| page.click(&format!("form[data-path=\"{path}\"] [type=submit]")))
    }

    #[track_caller]
    pub(crate) fn assert_no_complaints(&self) {
        assert!(self.complaints().is_empty(), "{:?}", self.complaints());
    }

    /// Returns all exceptions, console messages and log entries, except log entries about the network or of level `info`.
    pub(crate) fn complaints(&self) -> Vec<Value> {
        let complains = |event: &&Value| match event["method"].as_str().unwrap() {
            "Runtime.exceptionThrown" | "Runtime.consoleAPICalled" => true,
            "Log.entryAdded" => {
                let entry = &event["params"]["entry"];
                entry["source"] != "network" && entry["level"] != "info"
            }
            _ => false,
        };
        self.tools().events(&self.session).iter().filter(complains).cloned().collect()
    }

    /// Returns all requests as the page made them, before the browser added headers.
    pub(crate) fn requests(&self) -> Vec<Value> {
        self.events("Network.requestWillBeSent").into_iter().map(|mut event| event["request"].take()).collect()
    }

    /// Returns the parameters of all events `method`.
    pub(crate) fn events(&self, method: &str) -> Vec<Value> {
        let tools = self.tools();
        let events = tools.events(&self.session).iter().filter(|event| event["method"] == method);
        events.map(|event| event["params"].clone()).collect()
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let context = json!({ "browserContextId": self.context });
            self.tools().command("", "Target.disposeBrowserContext", context);
        }
    }
}

impl FormResponse {
    /// Parses the body as JSON. Asserts that it is indented.
    pub(crate) fn json(&self) -> Value {
        assert!(self.body.starts_with("{\n  \""), "{}", self.body);
        serde_json::from_str(&self.body).unwrap()
    }
}
