//! Features that only HTTP/1 has.

use http::Version;

use crate::Frontend;
use crate::ask::{Ask, HOST};

/// RFC 9112 section 3.2.2: the form for requests to a proxy, which every server must accept.
pub async fn absolute_targets_are_understood(frontend: &Frontend) {
    let rule = "A whole address as target means its path and query.";
    frontend.agrees(rule, 200, frontend.get(format!("http://{HOST}/api/v1/courses?limit=1"))).await;
    frontend.agrees(rule, 404, frontend.get(format!("http://{HOST}/elsewhere"))).await;
}

/// A URL without a path means its root.
pub async fn absolute_targets_may_have_no_path(frontend: &Frontend) {
    frontend
        .agrees("A whole address without a path means its root.", 404, frontend.get(format!("http://{HOST}")))
        .await;
}

/// RFC 9112 section 3.2.4: a request about the server as a whole, which the catalogue is not.
pub async fn the_asterisk_is_not_found(frontend: &Frontend) {
    frontend.agrees("The asterisk is no path of the catalogue.", 404, Ask::new("OPTIONS", "*")).await;
}

/// RFC 9112 section 3.2.3: the server is not a proxy.
pub async fn connect_is_not_found(frontend: &Frontend) {
    frontend.agrees("CONNECT is answered by the catalogue.", 404, frontend.ask("CONNECT", "example.com:443")).await;
}

/// HTTP/1.0, which does not require `Host`.
pub async fn older_clients_are_answered(frontend: &Frontend) {
    let rule = "A request of HTTP/1.0 is answered as one of HTTP/1.1.";
    for method in ["GET", "HEAD"] {
        let mut ask = frontend.ask(method, "/api/v1/courses?limit=1");
        ask.version = Version::HTTP_10;
        frontend.agrees(rule, 200, ask).await;
    }
}

/// A chunked body.
pub async fn a_chunked_body_is_ignored(frontend: &Frontend) {
    let mut ask = frontend.get("/api/v1/me").header("transfer-encoding", "chunked");
    ask.body = "7\r\nlimit=0\r\n0\r\n\r\n".into();
    frontend.agrees("A body of unknown length is ignored.", 200, ask).await;
}

/// A body that is announced, but sent only after the response.
pub async fn a_body_is_not_waited_for(frontend: &Frontend) {
    let mut ask = frontend.get("/api/v1/me").body("limit=0");
    ask.body_is_kept_back = true;
    frontend.agrees("The answer does not wait for the body.", 200, ask).await;
}
