//! Tests of the host application with sessions.

use crate::data::{ACCOUNT, Data};
use crate::http::{TestResponse, request};
use crate::program::Host;

fn begin(host: &Host) -> (String, String) {
    let response = TestResponse::to(&host.address, &request("POST", "/sessions", "", ACCOUNT));
    assert_eq!(response.status, 200);
    let cookie = response.header("set-cookie").unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    (response.body.clone(), cookie.split(';').next().unwrap().to_owned())
}

fn end(host: &Host, token: &str) {
    assert_eq!(TestResponse::to(&host.address, &request("DELETE", "/sessions", "", token)).status, 204);
}

#[tokio::test]
async fn keys_and_sessions_are_both_accepted() {
    let data = Data::new().await;
    let host = Host::start("own_authenticator", &data.database_url());
    let key = data.key().await;
    let (session, _) = begin(&host);
    for token in [key.expose(), &*session] {
        assert_eq!(host.get("/api/v1/me", token).json()["data"]["userId"], ACCOUNT);
        assert_eq!(host.get("/api/v1/courses?limit=1", token).json()["data"][0]["slug"], "two");
    }
    let ids = [key.expose(), &*session].map(|token| host.get("/api/v1/me", token).json()["data"]["apiKeyId"].clone());
    assert_eq!(ids, ["key_1", "session_1"]);
    end(&host, &session);
    assert_eq!(host.get("/api/v1/me", &session).json()["error"]["details"]["reason"], "revoked");
    assert_eq!(host.get("/api/v1/me", "neither").json()["error"]["details"]["reason"], "invalid");
    data.revoke_key().await;
    assert_eq!(host.get("/api/v1/me", key.expose()).json()["error"]["details"]["reason"], "revoked");
    host.signal("TERM");
    let (status, out, log) = host.output();
    assert_eq!((status, &*out), (Some(0), ""));
    assert!(!log.contains(key.expose()) && !log.contains(&session), "{log}");
}

#[tokio::test]
async fn session_cookie_works_until_session_ends() {
    let data = Data::new().await;
    let host = Host::start("own_authenticator", &data.database_url());
    let (session, cookie) = begin(&host);
    let header = format!("Cookie: other=1; {cookie}\n");
    let page = host.send("GET", "/my/courses?limit=1", &header);
    assert_eq!(page.json()["data"][0]["slug"], "two");
    // The link is below the path for which the cookie is sent.
    let next = page.header("link").unwrap().strip_prefix('<').unwrap().split_once('>').unwrap().0;
    assert!(next.starts_with("/my/courses?cursor="), "{next}");
    let last = host.send("GET", next, &header);
    assert_eq!((last.status, last.header("link")), (200, None));
    assert_eq!(last.json()["data"][0]["slug"], "one");
    assert_eq!(host.send("GET", "/my/courses/a%2Fb", &header).failure().0, 404);
    assert_eq!(host.send("GET", "/my/courses", "").failure().0, 401);
    end(&host, &session);
    assert_eq!(host.send("GET", "/my/courses", &header).failure().0, 401);
}

#[tokio::test]
async fn requests_are_counted_by_operation_and_status() {
    let data = Data::new().await;
    let host = Host::start("own_authenticator", &data.database_url());
    let (session, cookie) = begin(&host);
    host.get("/api/v1/courses", &session);
    host.send("GET", "/my/courses", &format!("Cookie: {cookie}\n"));
    host.send("GET", "/api/v1/courses", "");
    host.send("GET", "/elsewhere", "");
    let counts = host.send("GET", "/metrics", "").body;
    for (operation, status, count) in [("listCourses", 200, 2), ("listCourses", 401, 1), ("none", 404, 1)] {
        let line = format!("catalogue_requests_total{{operation=\"{operation}\",status=\"{status}\"}} {count}\n");
        assert!(counts.contains(&line), "{line}{counts}");
    }
}
