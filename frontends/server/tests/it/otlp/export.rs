//! Spans of requests, as a collector receives them.

use std::collections::HashSet;
use std::fs::File;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::{Value, json};

use super::collector::{Collector, spans};
use super::errors::warnings;
use crate::https::issue;
use crate::observed::{Observed, send};
use crate::program::{Server, TestDir};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64
}

#[test]
fn each_request_exports_one_span_without_secrets() {
    let dir = TestDir::with_courses();
    let key = dir.run("keys create --account a --name n --scope read:courses --json").json();
    let (id, token) = (key["id"].as_str().unwrap(), key["token"].as_str().unwrap());
    let collector = Collector::with_response(Collector::OK);
    let began = now();
    let observed = Observed::start(&dir, &format!("--otlp-endpoint {}", collector.url()));
    let server = &observed.server.address;
    let bearer = format!("Authorization: Bearer {token}");
    let trace = format!("traceparent: 00-{TRACE}-{PARENT}-01\ntracestate: s3cret=s3cret");
    let (_, _, page) =
        send(server, &format!("GET /api/v1/courses?limit=1 HTTP/1.1\n{bearer}\nX-Request-Id: one\n{trace}"));
    let page: Value = serde_json::from_str(&page).unwrap();
    let cursor = page["meta"]["nextCursor"].as_str().unwrap();
    send(server, &format!("GET /api/v1/courses?cursor={cursor} HTTP/1.1\n{bearer}\nX-Request-Id: two"));
    send(server, &format!("GET /api/v1/courses?access_token={token} HTTP/1.1\nX-Request-Id: three"));
    send(server, &format!("HEAD /api/v1/courses/s3cret HTTP/1.1\nAuthorization: Bearer {token}x\nX-Request-Id: four"));
    send(server, &format!("S3CRET /s3cret HTTP/1.1\nX-Request-Id: five\nUser-Agent: s3cret\n{trace}\n{trace}"));
    dir.move_database_away();
    send(server, &format!("GET /api/v1/me HTTP/1.1\n{bearer}\nX-Request-Id: six"));
    let log = observed.stop_and_read_log();
    let ended = now();

    let posts = collector.posts();
    for post in &posts {
        let head = post.head.to_lowercase();
        assert!(head.starts_with("post /v1/traces http/1.1\r\n"), "{head}");
        assert!(head.contains("\r\ncontent-type: application/x-protobuf\r\n"), "{head}");
        assert!(head.contains(&format!("\r\nhost: 127.0.0.1:{}\r\n", collector.port())), "{head}");
        let export = post.export();
        assert_eq!((&export.resource["service.name"], &*export.scope), (&json!("catalogue"), "catalogue"));
        assert_eq!(export.resource["service.version"], env!("CARGO_PKG_VERSION"));
        assert!(export.resource["service.instance.id"].as_str().unwrap().len() == 32);
        let all = format!("{head}{}", String::from_utf8_lossy(&post.body)).to_lowercase();
        for secret in [token, &token[..16], cursor, "s3cret"] {
            assert!(!all.contains(&secret.to_lowercase()), "{secret}: {all}");
        }
    }
    let spans = spans(&posts);
    assert_eq!(spans.len(), 6, "{log}");
    // Status 2 is an error, and kind 2 a server. Flags: 0x1 if the span is sampled, 0x100 if the parent's origin is known, and
    // 0x200 if the parent is remote.
    let values = |names: &[&str]| -> Vec<Value> {
        spans.iter().map(|span| names.iter().map(|name| span.get(name)).collect()).collect()
    };
    assert_eq!(
        spans.iter().map(|span| (&*span.name, span.status)).collect::<Vec<_>>(),
        [("listCourses", 0), ("listCourses", 0), ("listCourses", 0), ("getCourse", 0), ("HTTP", 0), ("getMe", 2)]
    );
    assert_eq!(
        values(&["catalogue.request_id", "catalogue.operation", "http.request.method", "http.response.status_code"]),
        [
            json!(["one", "listCourses", "GET", 200]),
            json!(["two", "listCourses", "GET", 200]),
            json!(["three", "listCourses", "GET", 401]),
            json!(["four", "getCourse", "HEAD", 401]),
            json!(["five", "other", "_OTHER", 404]),
            json!(["six", "getMe", "GET", 500]),
        ]
    );
    assert_eq!(
        values(&[
            "http.route",
            "url.scheme",
            "error.type",
            "catalogue.account",
            "catalogue.credential",
            "catalogue.refusal"
        ]),
        [
            json!(["/api/v1/courses", "http", null, "a", id, null]),
            json!(["/api/v1/courses", "http", null, "a", id, null]),
            json!(["/api/v1/courses", "http", null, null, null, "missing"]),
            json!(["/api/v1/courses/{slug}", "http", null, null, null, "invalid"]),
            json!([null, "http", null, null, null, null]),
            json!(["/api/v1/me", "http", "500", null, null, null]),
        ]
    );
    assert_eq!(spans[0].get("http.response.body.size"), page.to_string().len());

    assert_eq!((&*spans[0].trace, &*spans[0].parent, spans[0].flags), (TRACE, PARENT, 0x301));
    for span in &spans[1..] {
        assert_eq!((span.trace.len(), &*span.parent, span.flags), (32, "", 0x101), "{span:?}");
    }
    let ids: HashSet<_> = spans.iter().flat_map(|span| [&span.trace, &span.id]).collect();
    assert_eq!(ids.len(), 12);
    let mut last = began;
    for span in &spans {
        assert_eq!((span.kind, span.id.len()), (2, 16), "{span:?}");
        assert!(span.start < span.end && span.end > last, "{last} {span:?}");
        last = span.end;
    }
    assert!(last < ended);
    assert!(log.contains(&format!("spans=\"{}/v1/traces\"", collector.url())), "{log}");
    assert!(!log.contains("the collector") && !log.contains("not sent"), "{log}");
}

#[test]
fn spans_are_exported_in_batches_before_shutdown() {
    let dir = TestDir::new();
    let collector = Collector::with_response(Collector::OK);
    let observed = Observed::start(&dir, &format!("--otlp-endpoint {}", collector.url()));
    for _ in 0..200 {
        send(&observed.server.address, "GET /docs HTTP/1.1");
    }
    let mut posts = vec![collector.next()];
    while spans(&posts).len() < 200 {
        posts.push(collector.next());
    }
    assert!(spans(&posts).len() == 200 && posts.len() < 100, "{}", posts.len());
    // The collector receives spans before they are counted as exported.
    observed.wait_for_metric("catalogue_spans_exported_total", 200.0);
    let metrics = observed.metrics();
    assert_eq!(metrics["catalogue_spans_exported_total"], 200.0);
    assert_eq!(metrics["catalogue_spans_dropped_total"], 0.0);
}

#[test]
fn unsampled_requests_export_no_span() {
    let dir = TestDir::new();
    let given = |flags: &str| format!("\ntraceparent: 00-{TRACE}-{PARENT}-{flags}");
    for (options, expected) in [("--otlp-sample 0", &["yes"][..]), ("", &["yes", "maybe"])] {
        let collector = Collector::with_response(Collector::OK);
        let observed = Observed::start(&dir, &format!("--otlp-endpoint {} {options}", collector.url()));
        for (id, parent) in [("yes", given("01")), ("no", given("00")), ("maybe", String::new())] {
            send(&observed.server.address, &format!("GET /docs HTTP/1.1\nX-Request-Id: {id}{parent}"));
        }
        observed.stop_and_read_log();
        let ids: Vec<_> = collector.spans().iter().map(|span| span.get("catalogue.request_id")).collect();
        assert_eq!(ids, expected);
    }
}

/// Behind a proxy, clients see the path and scheme of the base URL, not of the request that arrives.
#[test]
fn route_and_scheme_follow_base_url() {
    let dir = TestDir::new();
    let collector = Collector::with_response(Collector::OK);
    let options = format!("--otlp-endpoint {} --base-url https://api.example.com/v2", collector.url());
    let observed = Observed::start(&dir, &options);
    send(&observed.server.address, "GET /v2/me HTTP/1.1");
    observed.stop_and_read_log();
    let [span] = &*collector.spans() else { panic!() };
    assert_eq!((span.get("http.route"), span.get("url.scheme")), (json!("/v2/me"), json!("https")));
}

/// By default, the OpenTelemetry library reads these variables itself.
#[test]
fn opentelemetry_variables_are_ignored() {
    let dir = TestDir::new();
    let collector = Collector::with_response(Collector::OK);
    let arguments = "serve --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0 --otlp-endpoint";
    let mut command = dir.command(&format!("{arguments} {}", collector.url()));
    command.envs([
        ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "1"),
        ("OTEL_BSP_MAX_QUEUE_SIZE", "1"),
        ("OTEL_BSP_SCHEDULE_DELAY", "3600000"),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-key=s3cret"),
        ("OTEL_RESOURCE_ATTRIBUTES", "key=s3cret"),
        ("OTEL_SDK_DISABLED", "true"),
        ("OTEL_SERVICE_NAME", "s3cret"),
        ("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "1"),
        ("OTEL_TRACES_SAMPLER", "always_off"),
        ("HTTP_PROXY", "http://127.0.0.1:1"),
        ("http_proxy", "http://127.0.0.1:1"),
    ]);
    let observed = Observed::start_with(&dir, &mut command);
    for _ in 0..20 {
        send(&observed.server.address, "GET /docs HTTP/1.1");
    }
    let mut posts = vec![collector.next()];
    while spans(&posts).len() < 20 {
        posts.push(collector.next());
    }
    assert!(posts.len() < 20, "{}", posts.len());
    for post in &posts {
        let all = format!("{}{}", post.head, String::from_utf8_lossy(&post.body)).to_lowercase();
        assert!(!all.contains("s3cret") && !all.contains("content-encoding"), "{all}");
        let export = post.export();
        assert_eq!(
            export.resource.keys().collect::<Vec<_>>(),
            ["service.instance.id", "service.name", "service.version"]
        );
        assert!(export.spans.iter().all(|span| span.attributes.len() > 4), "{export:?}");
    }
    assert_eq!(warnings(&observed.stop_and_read_log()), [""; 0]);
}

#[test]
fn collector_certificate_must_match_host_name() {
    let dir = TestDir::new();
    issue(&dir);
    let chain = vec![CertificateDer::from_pem_file(dir.path("chain.pem")).unwrap()];
    let key = PrivateKeyDer::from_pem_file(dir.path("key.pem")).unwrap();
    let builder = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    let collector = Collector::secured(builder.with_single_cert(chain, key).unwrap());
    let serve = |name: &str| {
        let endpoint = format!("https://{name}:{}", collector.port());
        let log = dir.path("log");
        let mut command = dir.command(&format!("serve --listen 127.0.0.1:0 --otlp-endpoint {endpoint}"));
        command.env("SSL_CERT_FILE", dir.path("chain.pem")).stderr(File::create(&log).unwrap());
        let server = Server::start(&mut command);
        send(&server.address, "GET /docs HTTP/1.1");
        assert_eq!(server.stop_with("TERM").0, Some(0));
        std::fs::read_to_string(log).unwrap()
    };
    let log = serve("localhost");
    assert!(collector.spans().len() == 1 && warnings(&log).is_empty(), "{log}");
    let log = serve("127.0.0.1");
    assert!(collector.posts().is_empty() && log.contains("invalid peer certificate"), "{log}");
}
