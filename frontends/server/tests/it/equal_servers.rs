//! Two servers over equal data, whose responses must be equal byte for byte.

use crate::observed::send;
use crate::program::Server;

/// Two servers, and the id and token of an account's key on each.
pub(crate) struct Pair<'s> {
    pub(crate) servers: [&'s Server; 2],
    pub(crate) keys: [(String, String); 2],
}

impl Pair<'_> {
    /// Asserts that the responses to `path` with the keys are equal, and returns them.
    #[track_caller]
    pub(crate) fn assert_equal(&self, path: &str) -> String {
        self.assert_equal_with(self.keys.each_ref().map(|(_, token)| &**token), path)
    }

    #[track_caller]
    pub(crate) fn assert_equal_with(&self, tokens: [&str; 2], path: &str) -> String {
        let [one, other] = [0, 1].map(|index| {
            let response = comparable_response(&self.servers[index].address, path, tokens[index]);
            response.replace(&self.keys[index].0, "the key's id")
        });
        assert_eq!(one, other, "{path}");
        one
    }

    /// Asserts that all responses for `account` are equal. Its courses have `slugs`.
    pub(crate) fn assert_all_equal(&self, account: &str, slugs: &[&str]) {
        assert!(self.assert_equal("/api/v1/me").contains(account));
        for limit in [1, 2, 5, 7, 11, 12, 50, 100] {
            let mut path = format!("/api/v1/courses?limit={limit}");
            let mut pages = 1;
            while let Some((_, cursor)) = self.assert_equal(&path).split_once("\"nextCursor\":\"") {
                path = format!("/api/v1/courses?limit={limit}&cursor={}", cursor.split_once('"').unwrap().0);
                pages += 1;
            }
            assert_eq!(pages, slugs.len().div_ceil(limit).max(1), "at limit {limit}");
        }
        let absent = ["absent", "A", "a\0", "a/b", "deleted"].map(|slug| (slug, "HTTP/1.1 404 "));
        for (slug, status) in slugs.iter().map(|slug| (*slug, "HTTP/1.1 200 ")).chain(absent) {
            let escaped: String = slug.bytes().map(|byte| format!("%{byte:02X}")).collect();
            assert!(self.assert_equal(&format!("/api/v1/courses/{escaped}")).starts_with(status), "{slug:?}");
        }
        for path in ["/courses?limit=0", "/courses?cursor=x", "/absent", "/openapi.json"] {
            self.assert_equal(&format!("/api/v1{path}"));
        }
        assert!(self.assert_equal_with(["unknown"; 2], "/api/v1/courses").starts_with("HTTP/1.1 401 "));
    }
}

/// Returns the response to `GET path` without the headers in which any two servers differ: tag, request id and date.
pub(crate) fn comparable_response(address: &str, path: &str, token: &str) -> String {
    let (_, head, body) = send(address, &format!("GET {path} HTTP/1.1\nAuthorization: Bearer {token}"));
    let excluded = ["etag:", "x-request-id:", "date:"];
    let head: Vec<_> = head.split("\r\n").filter(|line| !excluded.iter().any(|name| line.starts_with(name))).collect();
    format!("{}\n\n{body}", head.join("\n"))
}
