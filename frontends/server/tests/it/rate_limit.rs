//! `catalogue serve --rate-limit`

use crate::program::{Server, TestDir, TestResponse, exchange};

pub(crate) const COURSES: &str = "/api/v1/courses";

/// Returns the number of remaining requests that the response reports.
pub(crate) fn remaining(head: &TestResponse) -> Option<u32> {
    let state = head.field("ratelimit")?.strip_prefix(r#""default";r="#).unwrap();
    state.split(';').next().unwrap().parse().ok()
}

pub(crate) fn get_head(server: &Server, path: &str, token: &str, further: &str) -> TestResponse {
    let fields = format!("Host: a\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n{further}");
    exchange(&server.address, &format!("GET {path} HTTP/1.1\r\n{fields}\r\n")).unwrap()
}

#[test]
fn requests_of_a_key_are_limited() {
    let dir = TestDir::with_courses();
    let (token, other) = (dir.key("a").1, dir.key("a").1);
    let server = dir.serve("--log warn --rate-limit 2/1h");
    let first = get_head(&server, COURSES, &token, "");
    assert_eq!((first.status, first.field("ratelimit-policy")), (200, Some(r#""default";q=2;w=3600"#)));
    assert_eq!(remaining(&first), Some(1));
    let named = format!("If-None-Match: {}\r\n", first.field("etag").unwrap());
    let unchanged = get_head(&server, COURSES, &token, &named);
    assert_eq!((unchanged.status, unchanged.field("ratelimit")), (304, None));
    assert_eq!(remaining(&get_head(&server, COURSES, &token, "")), Some(0));
    let refused = get_head(&server, COURSES, &token, "");
    let after: u32 = refused.field("retry-after").unwrap().parse().unwrap();
    assert_eq!((refused.status, remaining(&refused)), (429, Some(0)));
    assert!((1..=3_600).contains(&after), "{after}");
    assert_eq!(remaining(&get_head(&server, COURSES, &other, "")), Some(1));
    assert_eq!(get_head(&server, "/docs/openapi.json", &token, "").status, 200);
}
