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
use super::schema::{attribute, hexadecimal};
use crate::https::issue;
use crate::logs::{PARENT, TRACE, send_secrets};
use crate::observed::{Observed, send};
use crate::program::{Server, TestDir};

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64
}

#[test]
fn each_request_exports_one_span_without_secrets() {
    let dir = TestDir::with_courses();
    let (id, token) = dir.key("a");
    let collector = Collector::with_response(Collector::OK);
    let began = now();
    let observed = Observed::start(&dir, &format!("--otlp-endpoint {}", collector.url()));
    let server = &observed.server.address;
    let (page, secrets) = send_secrets(server, &token);
    dir.move_database_away();
    send(server, &format!("GET /api/v1/me HTTP/1.1\nAuthorization: Bearer {token}\nX-Request-Id: six"));
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
        for secret in &secrets {
            assert!(!all.contains(&secret.to_lowercase()), "{secret}: {all}");
        }
    }
    let spans = spans(&posts);
    assert_eq!(spans.len(), 6, "{log}");
    // Status 2 is an error, and kind 2 a server. Flags: 0x1 if the span is sampled, 0x100 if the parent's origin is known, and
    // 0x200 if the parent is remote.
    let values = |names: &[&str]| -> Vec<Value> {
        spans.iter().map(|span| names.iter().map(|name| attribute(span, name)).collect()).collect()
    };
    assert_eq!(
        spans
            .iter()
            .map(|span| (&*span.name, span.status.as_ref().map_or(0, |status| status.code)))
            .collect::<Vec<_>>(),
        [("listCourses", 0), ("listCourses", 0), ("listCourses", 0), ("getCourse", 0), ("HTTP", 0), ("getMe", 2)]
    );
    assert_eq!(
        values(&[
            "catalogue.request_id",
            "catalogue.operation",
            "http.request.method",
            "http.response.status_code",
            "http.route",
            "error.type",
            "catalogue.account",
            "catalogue.credential",
            "catalogue.refusal"
        ]),
        [
            json!(["one", "listCourses", "GET", 200, "/api/v1/courses", null, "a", id, null]),
            json!(["two", "listCourses", "GET", 200, "/api/v1/courses", null, "a", id, null]),
            json!(["three", "listCourses", "GET", 401, "/api/v1/courses", null, null, null, "missing"]),
            json!(["four", "getCourse", "HEAD", 401, "/api/v1/courses/{slug}", null, null, null, "invalid"]),
            json!(["five", "other", "_OTHER", 404, null, null, null, null, null]),
            json!(["six", "getMe", "GET", 500, "/api/v1/me", "500", null, null, null]),
        ]
    );
    assert_eq!(attribute(&spans[0], "http.response.body.size"), page.to_string().len());

    let first = &spans[0];
    let ids = [&first.trace_id, &first.parent_span_id].map(|id| hexadecimal(id));
    assert_eq!((ids, first.flags), ([TRACE, PARENT].map(str::to_owned), 0x301));
    for span in &spans[1..] {
        assert_eq!((span.trace_id.len(), span.parent_span_id.len(), span.flags), (16, 0, 0x101), "{span:?}");
    }
    let ids: HashSet<_> = spans.iter().flat_map(|span| [&span.trace_id, &span.span_id]).collect();
    assert_eq!(ids.len(), 12);
    let mut last = began;
    for span in &spans {
        assert_eq!((span.kind, span.span_id.len()), (2, 8), "{span:?}");
        assert_eq!(attribute(span, "url.scheme"), "http");
        let end = span.end_time_unix_nano;
        assert!(span.start_time_unix_nano < end && end > last, "{last} {span:?}");
        last = end;
    }
    assert!(last < ended);
    assert!(log.contains(&format!("spans=\"{}/v1/traces\"", collector.url())), "{log}");
    assert!(!log.contains("the collector") && !log.contains("not sent"), "{log}");
}

/// Behind a proxy, clients see the path and scheme of the base URL, not of the request that arrives.
#[test]
fn sampled_requests_export_span_with_route_and_scheme_of_base_url() {
    let dir = TestDir::new();
    let given = |flags: &str| format!("\ntraceparent: 00-{TRACE}-{PARENT}-{flags}");
    for (options, expected) in [("--otlp-sample 0", &["yes"][..]), ("", &["yes", "maybe"])] {
        let collector = Collector::with_response(Collector::OK);
        let options = format!("--otlp-endpoint {} --base-url https://api.example.com/v2 {options}", collector.url());
        let observed = Observed::start(&dir, &options);
        for (id, parent) in [("yes", given("01")), ("no", given("00")), ("maybe", String::new())] {
            send(&observed.server.address, &format!("GET /v2/me HTTP/1.1\nX-Request-Id: {id}{parent}"));
        }
        observed.stop_and_read_log();
        let spans = collector.spans();
        let ids: Vec<_> = spans.iter().map(|span| attribute(span, "catalogue.request_id")).collect();
        assert_eq!(ids, expected);
        for span in &spans {
            let route_and_scheme = ["http.route", "url.scheme"].map(|name| attribute(span, name));
            assert_eq!(route_and_scheme, ["/v2/me", "https"]);
        }
    }
}

/// By default, the OpenTelemetry library reads these variables itself.
#[test]
fn spans_are_exported_in_batches_whatever_opentelemetry_variables_request() {
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
