//! The metrics of `/metrics`.

use std::collections::BTreeSet;

use crate::observed::{Observed, samples, send};
use crate::program::TestDir;

#[test]
fn requests_are_counted_by_operation_and_status() {
    let dir = TestDir::with_courses();
    let bearer = format!("Authorization: Bearer {}", dir.key("a").1);
    let observed = Observed::start(&dir, "");
    let status_of = |request: &str| send(&observed.server.address, request).0;
    let get = |path: &str| status_of(&format!("GET {path} HTTP/1.1\n{bearer}"));
    assert_eq!((get("/api/v1/courses"), get("/api/v1/courses"), get("/api/v1/courses?limit=0")), (200, 200, 400));
    assert_eq!((get("/api/v1/me"), get("/api/v1/courses/none"), get("/api/v1/none")), (200, 404, 404));
    assert_eq!(status_of("GET /api/v1/me HTTP/1.1"), 401);
    assert_eq!(status_of("GET /api/v1/me HTTP/1.1\nAuthorization: Bearer x"), 401);
    assert_eq!(status_of("GET /docs HTTP/1.1"), 200);
    assert_eq!(status_of("GET / HTTP/1.1\nAccept: text/html"), 303);
    assert_eq!(status_of("GET /docs HTTP/1.1\nHost: another"), 400);
    let metrics = observed.metrics();
    for (name, value) in [
        (r#"http_requests_total{operation="listCourses",status="200"}"#, 2.0),
        (r#"http_requests_total{operation="listCourses",status="400"}"#, 1.0),
        (r#"http_requests_total{operation="getCourse",status="404"}"#, 1.0),
        (r#"http_requests_total{operation="getMe",status="200"}"#, 1.0),
        (r#"http_requests_total{operation="getMe",status="401"}"#, 2.0),
        (r#"http_requests_total{operation="other",status="200"}"#, 1.0),
        (r#"http_requests_total{operation="other",status="303"}"#, 1.0),
        (r#"http_requests_total{operation="other",status="404"}"#, 1.0),
        (r#"http_request_duration_seconds_bucket{operation="listCourses",le="+Inf"}"#, 3.0),
        (r#"http_request_duration_seconds_count{operation="getMe"}"#, 3.0),
        ("http_requests_in_flight", 0.0),
        (r#"credential_checks_total{outcome="accepted"}"#, 6.0),
        (r#"credential_checks_total{outcome="missing"}"#, 1.0),
        (r#"credential_checks_total{outcome="invalid"}"#, 1.0),
        ("page_cache_hits_total", 1.0),
        ("page_cache_misses_total", 3.0),
        ("connections_accepted_total", 11.0),
        ("malformed_requests_total", 1.0),
        ("log_dropped_lines_total", 0.0),
    ] {
        assert_eq!(metrics.get(&format!("catalogue_{name}")), Some(&value), "{name} in {metrics:#?}");
    }
    assert!(metrics[r#"catalogue_http_request_duration_seconds_sum{operation="listCourses"}"#] > 0.0);
    assert!(metrics["catalogue_page_cache_bytes"] > 0.0);
    for name in ["cpu_seconds_total", "resident_memory_bytes", "open_fds", "max_fds", "start_time_seconds"] {
        assert!(!cfg!(target_os = "linux") || metrics[&format!("process_{name}")] > 0.0, "{name}");
    }
}

#[test]
fn limits_and_storage_errors_are_counted_by_kind() {
    let dir = TestDir::with_courses();
    let bearer = format!("Authorization: Bearer {}", dir.key("a").1);
    let observed = Observed::start(&dir, "--rate-limit 2/1d");
    let get = |field: &str| send(&observed.server.address, &format!("GET /api/v1/courses HTTP/1.1\n{field}")).0;
    assert_eq!([&*bearer; 3].map(get), [200, 200, 429]);
    assert_eq!(["Authorization: Bearer x"; 3].map(get), [401, 401, 429]);
    dir.move_database_away();
    assert_eq!(get(&bearer), 500);
    let metrics = observed.metrics();
    for (name, value) in [
        (r#"limits_exceeded_total{limit="credential"}"#, 1.0),
        (r#"limits_exceeded_total{limit="client_address"}"#, 1.0),
        (r#"limits_exceeded_total{limit="in_flight"}"#, 0.0),
        ("limits_uncounted_total", 0.0),
        (r#"credential_checks_total{outcome="failed"}"#, 1.0),
    ] {
        assert_eq!(metrics[&format!("catalogue_{name}")], value, "{name} in {metrics:#?}");
    }
    let errors = metrics.iter().filter(|(name, _)| name.starts_with("catalogue_storage_errors_total"));
    assert_eq!(errors.map(|(_, count)| count).sum::<f64>(), 1.0);
}

/// Clients cannot add names or labels. If a counter appeared with its first event, rates would miss the event.
#[test]
fn samples_do_not_depend_on_requests() {
    let dir = TestDir::with_courses();
    let bearer = format!("Authorization: Bearer {}", dir.key("a").1);
    let observed = Observed::start(&dir, "");
    let names = || -> BTreeSet<String> { observed.metrics().into_keys().collect() };
    let before = names();
    let round = |number: usize| -> BTreeSet<String> {
        for request in [
            format!("GET /api/v1/courses/secret{number} HTTP/1.1\nAuthorization: Bearer secret{number}"),
            format!("GET /secret{number}?secret{number} HTTP/1.1"),
            format!("SECRET{number} /docs HTTP/1.1"),
            format!("GET /docs HTTP/1.1\nX-Request-Id: secret{number}"),
            format!("GET /api/v1/me HTTP/1.1\nCookie: secret{number}\nTraceparent: secret{number}"),
            format!("GET /api/v1/courses HTTP/1.1\n{bearer}"),
            format!("GET /api/v1/courses HTTP/1.1\n{bearer}\nIf-None-Match: *"),
            format!("GET /api/v1/courses?limit=secret{number} HTTP/1.1\n{bearer}"),
            format!("GET /api/v1/courses/secret{number} HTTP/1.1\n{bearer}"),
            "DELETE /api/v1/courses HTTP/1.1".to_owned(),
            "OPTIONS /api/v1/courses HTTP/1.1".to_owned(),
            "GET / HTTP/1.1\nAccept: text/html".to_owned(),
        ] {
            send(&observed.server.address, &request);
        }
        let text = send(&observed.admin, "GET /metrics HTTP/1.1").2;
        assert!(!text.to_lowercase().contains("secret"), "{text}");
        samples(&text).into_keys().collect()
    };
    for number in 0..20 {
        assert_eq!(round(number), before);
    }
    dir.move_database_away();
    assert_eq!(send(&observed.server.address, &format!("GET /api/v1/courses HTTP/1.1\n{bearer}")).0, 500);
    assert_eq!(names(), before);
    assert!(before.len() < 300, "{}", before.len());
    for status in [200, 304, 401, 403, 404, 429, 500, 503] {
        for operation in ["getMe", "listCourses", "getCourse", "getOpenApi", "other"] {
            let name = format!("catalogue_http_requests_total{{operation=\"{operation}\",status=\"{status}\"}}");
            assert!(before.contains(&name), "{name}");
        }
    }
}

/// Checks what `promtool check metrics` checks of the format: each metric is described once, before its samples.
#[test]
fn metrics_text_is_well_formed() {
    let dir = TestDir::new();
    let observed = Observed::start(&dir, "--rate-limit 600/1m");
    let text = send(&observed.admin, "GET /metrics HTTP/1.1").2;
    let (mut described, mut current) = (BTreeSet::new(), "");
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            current = rest.split(' ').next().unwrap();
            assert!(described.insert(current), "{line}");
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert_eq!(name, current);
            assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
        } else {
            let name = line.split(['{', ' ']).next().unwrap();
            let suffix = name.strip_prefix(current).unwrap_or_else(|| panic!("{line} after {current}"));
            assert!(["", "_bucket", "_sum", "_count"].contains(&suffix), "{line}");
        }
    }
}
