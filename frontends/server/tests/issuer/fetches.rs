//! Fetches of an issuer's metadata and keys, from fake servers and files (decisions O22 and O23).

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;

use crate::observed::Observed;
use crate::program::TestDir;

const OPENID: &str = "/.well-known/openid-configuration";
const RFC_8414: &str = "/.well-known/oauth-authorization-server";
/// The key of RFC 8037, appendix A.2.
const SET: &str =
    r#"{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"k","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#;

/// A server that records the requested paths. It ends with the process.
struct Fake {
    /// Base URL, such as `http://127.0.0.1:40123`.
    url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Fake {
    /// Starts a server. `response` gets the server's URL and a path, and returns the whole response, or `None` for no response.
    /// The server closes connections, except after `None` or a response that contains `keep-alive`: then it only stops reading.
    fn start(response: impl Fn(&str, &str) -> Option<String> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (requests, here) = (Arc::<Mutex<Vec<String>>>::default(), url.clone());
        let paths = Arc::clone(&requests);
        thread::spawn(move || {
            let mut open = Vec::new();
            for stream in listener.incoming() {
                let mut stream = BufReader::new(stream.unwrap());
                let mut line = String::new();
                stream.read_line(&mut line).unwrap();
                let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
                while stream.read_line(&mut line).unwrap() > 2 {}
                let whole = response(&here, &path);
                paths.lock().unwrap().push(path);
                if let Some(whole) = &whole {
                    let _ = stream.get_mut().write_all(whole.as_bytes());
                }
                if whole.is_none_or(|whole| whole.contains("keep-alive")) {
                    open.push(stream);
                }
            }
        });
        Self { url, requests }
    }

    fn requests(&self) -> Vec<String> {
        std::mem::take(&mut self.requests.lock().unwrap())
    }
}

fn response(status: u16, head: &str, body: &str) -> Option<String> {
    Some(format!("HTTP/1.1 {status} A\r\nContent-Length: {}\r\n{head}\r\n{body}", body.len()))
}

fn ok(body: &str) -> Option<String> {
    response(200, "", body)
}

fn metadata(issuer: &str, jwks_uri: &str) -> String {
    json!({ "issuer": issuer, "jwks_uri": jwks_uri }).to_string()
}

/// Returns the line of `tokens check` about the keys of `issuer`, for a token with a fake signature.
fn keys(issuer: &str, options: &str) -> String {
    let part = |json: serde_json::Value| URL_SAFE_NO_PAD.encode(json.to_string());
    let header = part(json!({ "typ": "at+jwt", "alg": "EdDSA", "kid": "k" }));
    let token = format!("{header}.{}.{}", part(json!({ "iss": issuer })), "A".repeat(86));
    let command = format!("tokens check --oauth-issuer {issuer} --oauth-audience a {options}");
    let output = TestDir::new().run_reading(&token, &command).out;
    output.lines().find(|line| line.contains(" keys ")).unwrap_or_else(|| panic!("{output}")).to_owned()
}

#[track_caller]
fn fails(line: &str, why: &str) {
    assert!(line.starts_with("ERROR ") && line.contains(why), "{line}");
}

#[track_caller]
fn has_keys(line: &str) {
    assert!(line.starts_with("ok ") && line.contains("1 usable"), "{line}");
}

#[test]
fn keys_are_fetched_from_jwks_uri_of_metadata() {
    let fake = Fake::start(|here, path| match path {
        OPENID => ok(&metadata(here, &format!("{here}/keys"))),
        "/keys" => ok(SET),
        _ => response(404, "", ""),
    });
    has_keys(&keys(&fake.url, ""));
    assert_eq!(fake.requests(), [OPENID, "/keys"]);
}

#[test]
fn rfc_8414_metadata_path_is_inserted_after_host() {
    let fake = Fake::start(|here, path| match path {
        "/.well-known/oauth-authorization-server/realms/a" => {
            ok(&metadata(&format!("{here}/realms/a"), &format!("{here}/keys")))
        }
        "/keys" => ok(SET),
        _ => response(404, "", ""),
    });
    has_keys(&keys(&format!("{}/realms/a", fake.url), ""));
    assert_eq!(fake.requests(), [&format!("/realms/a{OPENID}"), &format!("{RFC_8414}/realms/a"), "/keys"]);
}

#[test]
fn untrusted_metadata_are_not_followed() {
    let elsewhere = |here: &str| metadata(&here.replace("127.0.0.1", "localhost"), &format!("{here}/keys"));
    type Metadata = fn(&str) -> String;
    let cases: [(Metadata, &str); 4] = [
        (elsewhere, "configure that name"),
        (|here| metadata(here, "http://id.example.com/keys"), "jwks_uri in the metadata: plain HTTP"),
        (|here| metadata(here, "file:///etc/keys"), "jwks_uri in the metadata: invalid URL"),
        (|here| json!({ "issuer": here }).to_string(), "invalid issuer metadata"),
    ];
    for (metadata, why) in cases {
        let fake = Fake::start(move |here, path| if path == OPENID { ok(&metadata(here)) } else { ok(SET) });
        fails(&keys(&fake.url, ""), why);
        assert!(!fake.requests().contains(&"/keys".to_owned()), "{why}");
    }
}

#[test]
fn key_response_must_be_plain_200_within_256_kib() {
    let fake = Fake::start(|_, path| match path {
        "/redirected" => response(302, "Location: /keys\r\n", SET),
        "/moved" => response(308, "Location: /keys\r\n", SET),
        "/failed" => response(500, "", SET),
        "/partial" => response(206, "", SET),
        "/cut" => response(200, "", SET).map(|whole| whole[..whole.len() - 1].to_owned()),
        "/long" => ok(&(SET.to_owned() + &" ".repeat((256 << 10) - SET.len() + 1))),
        "/longest" => ok(&(SET.to_owned() + &" ".repeat((256 << 10) - SET.len()))),
        "/typed" => response(200, "Content-Type: application/jwk-set+json\r\n", SET),
        "/html" => response(200, "Content-Type: text/html\r\n", SET),
        "/coded" => response(200, "Content-Encoding: gzip\r\n", SET),
        _ => panic!("unexpected request: {path}"),
    });
    for (path, why) in [
        ("redirected", "unexpected status 302"),
        ("moved", "unexpected status 308"),
        ("failed", "unexpected status 500"),
        ("partial", "unexpected status 206"),
        ("cut", "/cut: "),
        ("long", "length limit exceeded"),
        ("coded", "the response has the Content-Encoding \"gzip\""),
    ] {
        fails(&keys("https://id.example.com", &format!("--oauth-keys {}/{path}", fake.url)), why);
        assert_eq!(fake.requests(), [format!("/{path}")]);
    }
    for path in ["longest", "typed", "html"] {
        has_keys(&keys("https://id.example.com", &format!("--oauth-keys {}/{path}", fake.url)));
    }
}

/// Metadata and key set share a timeout of five seconds.
#[test]
fn unresponsive_issuer_times_out_after_5_seconds() {
    let fake = Fake::start(|here, path| match path {
        OPENID => ok(&metadata(here, &format!("{here}/silent"))),
        _ => None,
    });
    let (silent, set) = (format!("{}/silent", fake.url), format!("--oauth-keys {}/silent", fake.url));
    thread::scope(|scope| {
        for (issuer, options) in [(&*fake.url, ""), (&silent, ""), ("https://id.example.com", &set)] {
            scope.spawn(move || fails(&keys(issuer, options), "no response within 5s"));
        }
    });
}

#[test]
fn each_fetch_opens_a_new_connection() {
    let fake = Fake::start(|here, path| match path {
        OPENID => response(200, "Connection: keep-alive\r\n", &metadata(here, &format!("{here}/keys"))),
        _ => response(200, "Connection: keep-alive\r\n", SET),
    });
    has_keys(&keys(&fake.url, ""));
}

/// Machines without CA certificates can use a local issuer over HTTP, or keys in a file.
#[test]
fn ca_certificates_are_needed_only_for_https() {
    let fake = Fake::start(|_, _| ok(SET));
    let dir = TestDir::new();
    dir.write("set", SET);
    let none = [("SSL_CERT_FILE", "none"), ("SSL_CERT_DIR", "none")];
    let doctor = |issuer: &str, keys: &str| {
        let options = format!("--oauth-issuer {issuer} --oauth-audience a {keys} --listen 127.0.0.1:0");
        dir.run_in(&none, &format!("doctor {options}")).out
    };
    let (https, http) = ("https://id.example.com", format!("--oauth-keys {}/keys", fake.url));
    for output in [doctor(https, &http), doctor(https, "--oauth-keys file:set")] {
        assert!(output.contains("has 1 usable keys"), "{output}");
    }
    for output in [doctor(https, ""), doctor(&fake.url, "--oauth-keys https://id.example.com/keys")] {
        assert!(output.contains("cannot read the system's CA certificates"), "{output}");
    }
    assert!(doctor(&fake.url, "").contains("invalid issuer metadata"), "a fetch over HTTP needs no certificates");
}

#[test]
fn key_file_over_256_kib_is_rejected() {
    let dir = TestDir::new();
    for (size, is_good) in [(256 << 10, true), ((256 << 10) + 1, false)] {
        dir.write("set", SET.to_owned() + &" ".repeat(size - SET.len()));
        let line = keys("https://id.example.com", &format!("--oauth-keys file:{}", dir.path("set").display()));
        if is_good { has_keys(&line) } else { fails(&line, "the key set has more than 262144 bytes") }
    }
    fails(&keys("https://id.example.com", "--oauth-keys file:none"), "none: No such file");
}

/// Metadata are cached for an hour, or until a fetch fails.
#[test]
fn metadata_are_refetched_after_failed_fetch() {
    let is_unavailable = Arc::new(Mutex::new(false));
    let unavailable = Arc::clone(&is_unavailable);
    let fake = Fake::start(move |here, path| match path {
        OPENID => ok(&metadata(here, &format!("{here}/keys"))),
        _ if *unavailable.lock().unwrap() => response(503, "", ""),
        _ => ok(SET),
    });
    let dir = TestDir::new();
    let observed = Observed::start(&dir, &format!("--oauth-issuer {} --oauth-audience a", fake.url));
    let paths_after = |outcome: &str, times: f64| {
        observed.wait_for_metric(&format!("catalogue_issuer_fetches_total{{outcome=\"{outcome}\"}}"), times);
        fake.requests()
    };
    assert_eq!(paths_after("success", 1.0), [OPENID, "/keys"]);
    observed.server.signal("HUP");
    assert_eq!(paths_after("success", 2.0), ["/keys"]);
    *is_unavailable.lock().unwrap() = true;
    observed.server.signal("HUP");
    assert_eq!(paths_after("failure", 1.0), ["/keys"]);
    *is_unavailable.lock().unwrap() = false;
    observed.server.signal("HUP");
    assert_eq!(paths_after("success", 3.0), [OPENID, "/keys"]);
}

/// With configured keys, the issuer is only compared with the tokens' `iss`, and is not published as an authorization server.
#[test]
fn issuer_may_be_any_text_if_keys_are_configured() {
    let fake = Fake::start(|_, _| ok(SET));
    let dir = TestDir::new();
    dir.write("set", SET);
    let file = format!("--oauth-keys file:{}", dir.path("set").display());
    for issuer in
        ["http://adfs.example.com/adfs/services/trust", "accounts.google.com", "urn:example:issuer", "https://a/?b"]
    {
        has_keys(&keys(issuer, &file));
        has_keys(&keys(issuer, &format!("--oauth-keys {}/keys", fake.url)));
        let url = "--base-url https://api.example.com/api/v1";
        let observed = Observed::start(&dir, &format!("{url} --oauth-issuer {issuer} {file}"));
        assert_eq!(observed.server.get("/.well-known/oauth-protected-resource/api/v1", "").0, 404, "{issuer}");
        let document = dir.run(&format!("openapi {url} --oauth-issuer {issuer} {file}")).succeeds();
        assert!(document.contains(&format!("signed by `{issuer}`")), "{document}");
    }
    assert!(fake.requests().iter().all(|path| path == "/keys"));
}

/// Serializers write null and empty lists for missing members, so a null `d` is not a private key.
#[test]
fn key_set_with_null_members_is_accepted_without_warning() {
    let dir = TestDir::new();
    let at = format!("--oauth-keys file:{}", dir.path("set").display());
    let nothing = r#""d":null,"use":null,"alg":null,"key_ops":[],"kty""#;
    dir.write("set", SET.replace("\"kty\"", nothing));
    has_keys(&keys("https://id.example.com", &at));
    let observed = Observed::start(&dir, &format!("--oauth-issuer https://id.example.com --oauth-audience a {at}"));
    observed.wait_for_metric("catalogue_issuer_fetches_total{outcome=\"success\"}", 1.0);
    let log = observed.stop_and_read_log();
    assert!(!log.contains("private key"), "{log}");
}

#[test]
fn key_set_without_usable_key_is_reported_with_reasons() {
    let dir = TestDir::new();
    let at = format!("--oauth-keys file:{}", dir.path("set").display());
    let secret = SET.replace("\"kty\"", "\"d\":\"hunter2\",\"kty\"");
    let private = "no usable key; \"k\": private key";
    for (set, why) in [("<html>", "the response is not a key set"), (&secret, private)] {
        dir.write("set", set);
        fails(&keys("https://id.example.com", &at), why);
        let output = dir
            .run(&format!("doctor --oauth-issuer https://id.example.com --oauth-audience a {at} --listen 127.0.0.1:0"));
        assert!(output.out.contains(why) && !output.out.contains("hunter2"), "{output:?}");
    }
}

/// The five seconds are the timeout of the whole fetch, even if bytes keep arriving.
#[test]
fn slow_key_response_times_out_after_5_seconds() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            assert!(stream.read(&mut [0; 4096]).unwrap() > 0);
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", SET.len());
            let _ = stream.write_all(head.as_bytes());
            while stream.write_all(b" ").is_ok() {
                thread::sleep(Duration::from_secs(1));
            }
        }
    });
    fails(&keys(&url, &format!("--oauth-keys {url}")), "no response within 5s");
}
