//! What a fetch of the issuer's keys takes and refuses (decisions O22 and O23), over sockets that answer as a test says.

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

/// A server that answers by paths, and notes which were asked for. It ends with the process.
struct Fake {
    /// Such as `http://127.0.0.1:40123`.
    url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Fake {
    /// `response` gives the whole answer to a path, status line and all, made of the server's own address; what is `None` is
    /// never answered. A connection is closed unless the answer says otherwise; then it is left open, and not read again.
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

/// What `tokens check` says of the keys of `issuer`, about a token of it that nobody signed.
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
fn metadata_say_where_keys_are() {
    let fake = Fake::start(|here, path| match path {
        OPENID => ok(&metadata(here, &format!("{here}/keys"))),
        "/keys" => ok(SET),
        _ => response(404, "", ""),
    });
    has_keys(&keys(&fake.url, ""));
    assert_eq!(fake.requests(), [OPENID, "/keys"]);
}

#[test]
fn metadata_of_rfc_8414_stand_in_between_host_and_path() {
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
fn metadata_that_cannot_be_believed_lead_nowhere() {
    let elsewhere = |here: &str| metadata(&here.replace("127.0.0.1", "localhost"), &format!("{here}/keys"));
    type Metadata = fn(&str) -> String;
    let cases: [(Metadata, &str); 4] = [
        (elsewhere, "name it as they do"),
        (|here| metadata(here, "http://id.example.com/keys"), "jwks_uri of the metadata: over plain HTTP"),
        (|here| metadata(here, "file:///etc/keys"), "jwks_uri of the metadata: the address"),
        (|here| json!({ "issuer": here }).to_string(), "cannot be read"),
    ];
    for (metadata, why) in cases {
        let fake = Fake::start(move |here, path| if path == OPENID { ok(&metadata(here)) } else { ok(SET) });
        fails(&keys(&fake.url, ""), why);
        assert!(!fake.requests().contains(&"/keys".to_owned()), "{why}");
    }
}

#[test]
fn an_answer_that_is_no_plain_200_is_none() {
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
        _ => panic!("{path}: nobody was told to go there"),
    });
    for (path, why) in [
        ("redirected", "the answer was 302"),
        ("moved", "the answer was 308"),
        ("failed", "the answer was 500"),
        ("partial", "the answer was 206"),
        ("cut", "/cut: "),
        ("long", "length limit exceeded"),
        ("coded", "the answer has the Content-Encoding \"gzip\""),
    ] {
        fails(&keys("https://id.example.com", &format!("--oauth-keys {}/{path}", fake.url)), why);
        assert_eq!(fake.requests(), [format!("/{path}")]);
    }
    for path in ["longest", "typed", "html"] {
        has_keys(&keys("https://id.example.com", &format!("--oauth-keys {}/{path}", fake.url)));
    }
}

/// Metadata and set together have five seconds.
#[test]
fn an_answer_that_does_not_come_is_not_waited_for() {
    let fake = Fake::start(|here, path| match path {
        OPENID => ok(&metadata(here, &format!("{here}/silent"))),
        _ => None,
    });
    let (silent, set) = (format!("{}/silent", fake.url), format!("--oauth-keys {}/silent", fake.url));
    thread::scope(|scope| {
        for (issuer, options) in [(&*fake.url, ""), (&silent, ""), ("https://id.example.com", &set)] {
            scope.spawn(move || fails(&keys(issuer, options), "no answer within 5s"));
        }
    });
}

#[test]
fn no_connection_is_used_twice() {
    let fake = Fake::start(|here, path| match path {
        OPENID => response(200, "Connection: keep-alive\r\n", &metadata(here, &format!("{here}/keys"))),
        _ => response(200, "Connection: keep-alive\r\n", SET),
    });
    has_keys(&keys(&fake.url, ""));
}

/// A machine without certificates can have an issuer beside it, or its keys in a file.
#[test]
fn certificates_are_needed_where_keys_come_over_tls() {
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
        assert!(output.contains("no certificate of the system can be read"), "{output}");
    }
    assert!(doctor(&fake.url, "").contains("metadata cannot be read"), "which is asked without certificates");
}

#[test]
fn a_file_is_read_up_to_the_longest_set() {
    let dir = TestDir::new();
    for (size, is_good) in [(256 << 10, true), ((256 << 10) + 1, false)] {
        dir.write("set", SET.to_owned() + &" ".repeat(size - SET.len()));
        let line = keys("https://id.example.com", &format!("--oauth-keys file:{}", dir.path("set").display()));
        if is_good { has_keys(&line) } else { fails(&line, "the key set has more than 262144 bytes") }
    }
    fails(&keys("https://id.example.com", "--oauth-keys file:none"), "none: No such file");
}

/// Metadata are believed for an hour, and asked again after a fetch that failed (decision O24).
#[test]
fn metadata_are_asked_again_after_a_failure() {
    let is_away = Arc::new(Mutex::new(false));
    let away = Arc::clone(&is_away);
    let fake = Fake::start(move |here, path| match path {
        OPENID => ok(&metadata(here, &format!("{here}/keys"))),
        _ if *away.lock().unwrap() => response(503, "", ""),
        _ => ok(SET),
    });
    let dir = TestDir::new();
    let observed = Observed::start(&dir, &format!("--oauth-issuer {} --oauth-audience a", fake.url));
    let fetched = |outcome: &str, times: f64| {
        observed.counts(&format!("catalogue_issuer_fetches_total{{outcome=\"{outcome}\"}}"), times);
        fake.requests()
    };
    assert_eq!(fetched("success", 1.0), [OPENID, "/keys"]);
    observed.server.signal("HUP");
    assert_eq!(fetched("success", 2.0), ["/keys"]);
    *is_away.lock().unwrap() = true;
    observed.server.signal("HUP");
    assert_eq!(fetched("failure", 1.0), ["/keys"]);
    *is_away.lock().unwrap() = false;
    observed.server.signal("HUP");
    assert_eq!(fetched("success", 3.0), [OPENID, "/keys"]);
}

/// An issuer that is not asked for anything is compared, whatever it is called, and is not named as a server that can be asked.
#[test]
fn issuer_whose_keys_are_elsewhere_may_be_any_text() {
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

/// Serializers write null and empty lists for what is not there, and some issuers zeros before numbers.
#[test]
fn key_set_with_members_that_are_null_is_used_without_an_alarm() {
    let dir = TestDir::new();
    let at = format!("--oauth-keys file:{}", dir.path("set").display());
    let nothing = r#""d":null,"use":null,"alg":null,"key_ops":[],"kty""#;
    dir.write("set", SET.replace("\"kty\"", nothing));
    has_keys(&keys("https://id.example.com", &at));
    let observed = Observed::start(&dir, &format!("--oauth-issuer https://id.example.com --oauth-audience a {at}"));
    observed.counts("catalogue_issuer_fetches_total{outcome=\"success\"}", 1.0);
    let log = observed.ended_log();
    assert!(!log.contains("private key"), "{log}");
}

/// Why there are none is told, also where there is a set.
#[test]
fn a_set_without_a_usable_key_is_told_with_its_keys() {
    let dir = TestDir::new();
    let at = format!("--oauth-keys file:{}", dir.path("set").display());
    let secret = SET.replace("\"kty\"", "\"d\":\"hunter2\",\"kty\"");
    let private = "no key that can be used here; \"k\": it is a private key";
    for (set, why) in [("<html>", "the answer is no key set"), (&secret, private)] {
        dir.write("set", set);
        fails(&keys("https://id.example.com", &at), why);
        let output = dir
            .run(&format!("doctor --oauth-issuer https://id.example.com --oauth-audience a {at} --listen 127.0.0.1:0"));
        assert!(output.out.contains(why) && !output.out.contains("hunter2"), "{output:?}");
    }
}

/// Five seconds are those of the whole fetch.
#[test]
fn an_issuer_that_sends_a_byte_a_second_is_not_waited_for() {
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
    fails(&keys(&url, &format!("--oauth-keys {url}")), "no answer within 5s");
}
