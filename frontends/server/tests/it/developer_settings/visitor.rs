//! [`Visitor`]: an HTTP client that behaves like a browser, as far as the pages need one.

use crate::program::{TestResponse, exchange};

/// An HTTP client with the session cookie that the server has set, if any.
pub(crate) struct Visitor {
    address: String,
    /// Value of `Host`.
    host: String,
    cookie: String,
}

impl Visitor {
    pub(crate) fn of(address: &str) -> Self {
        Self { address: address.to_owned(), host: address.to_owned(), cookie: String::new() }
    }

    /// Returns this visitor, with its cookies, at another server of the same host.
    pub(crate) fn at(&self, address: &str) -> Self {
        Self { address: address.to_owned(), host: self.host.clone(), cookie: self.cookie.clone() }
    }

    /// Signs in with a link's code.
    pub(crate) fn sign_in(&mut self, link: &str) -> TestResponse {
        let (_, code) = link.trim_end().split_once("/settings/sign-in#").unwrap();
        let response = self.post("/settings/sign-in", &format!("code={code}"));
        if let Some((_, rest)) = response.head.split_once("set-cookie: ") {
            rest.split(';').next().unwrap().clone_into(&mut self.cookie);
        }
        response
    }

    pub(crate) fn get(&self, path: &str) -> TestResponse {
        self.send("GET", path, &[], "")
    }

    /// Sends a form as a page of the settings does.
    pub(crate) fn post(&self, path: &str, form: &str) -> TestResponse {
        let fields = ["Sec-Fetch-Site: same-origin", "Content-Type: application/x-www-form-urlencoded"];
        self.send("POST", path, &fields, form)
    }

    pub(crate) fn send(&self, method: &str, path: &str, fields: &[&str], body: &str) -> TestResponse {
        self.exchange(&self.request(method, path, fields, body))
    }

    /// Like [`Self::send`], but returns `None` if the server does not respond.
    pub(crate) fn try_send(&self, method: &str, path: &str, fields: &[&str], body: &str) -> Option<TestResponse> {
        exchange(&self.address, &self.request(method, path, fields, body)).ok()
    }

    fn request(&self, method: &str, path: &str, fields: &[&str], body: &str) -> String {
        let cookie = Some(format!("Cookie: {}", self.cookie)).filter(|_| !self.cookie.is_empty());
        let fields: String =
            fields.iter().copied().chain(cookie.as_deref()).map(|field| format!("{field}\r\n")).collect();
        let (host, length) = (&self.host, body.len());
        format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n{fields}Connection: close\r\n\r\n{body}"
        )
    }

    /// Sends the bytes of `request`, which may be malformed.
    pub(crate) fn exchange(&self, request: &str) -> TestResponse {
        exchange(&self.address, request).unwrap_or_else(|error| panic!("{request}: {error}"))
    }

    /// Creates a key by the form and returns its id and token.
    pub(crate) fn create_key(&self, name: &str) -> (String, String) {
        let page = self.new_key_page(name);
        let (_, field) = page.split_once("<textarea").unwrap();
        let token = field.split(['>', '<']).nth(1).unwrap().to_owned();
        let list = self.get("/settings").body;
        (format!("key_{}", value(&list, "href=\"/settings/keys/key_")), token)
    }

    /// Creates a key by the form and returns the page that shows it.
    pub(crate) fn new_key_page(&self, name: &str) -> String {
        let nonce = value(&self.get("/settings/keys/new").body, "name=\"nonce\" value=\"");
        let form = format!("nonce={nonce}&name={name}&scope=read:courses&expires=90d&date=");
        let response = self.post("/settings/keys", &form);
        assert_eq!(response.status, 201, "{response:?}");
        response.body
    }
}

/// Returns the text between `before` and the next quote.
fn value(page: &str, before: &str) -> String {
    let (_, rest) = page.split_once(before).unwrap_or_else(|| panic!("{before} is not in {page}"));
    rest.split('"').next().unwrap().to_owned()
}
