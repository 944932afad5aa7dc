//! HTTPS, proxies and limits of `catalogue serve`.

use std::process::{Command, Stdio};

use rcgen::{CertificateParams, KeyPair};

use crate::program::{Place, Server};

/// A place with a certificate for `localhost` and its key.
fn place() -> Place {
    let place = Place::new();
    issue(&place);
    place
}

fn issue(place: &Place) {
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
    place.write("chain.pem", params.self_signed(&key).unwrap().pem());
    place.write("key.pem", key.serialize_pem());
}

const SERVE: &str = "serve --listen 127.0.0.1:0 --tls-cert chain.pem --tls-key key.pem";

/// What curl says of an address below a server's, if curl is there.
fn curl(place: &Place, server: &Server, arguments: &[&str]) -> Option<String> {
    let output = Command::new("curl")
        .args(["-sS", "--cacert", "chain.pem", "-o", "body", "-w", "%{http_code} %{http_version}"])
        .args(arguments)
        .arg(format!("https://{}/docs/llms.txt", server.address))
        .current_dir(place.path(""))
        .output()
        .ok()?;
    Some(String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap())
}

#[test]
fn https_is_announced_served_and_renewed() {
    let place = place();
    let mut server = Server::start(place.command(SERVE).stderr(Stdio::piped()));
    let Some(answer) = curl(&place, &server, &["--http1.1"]) else {
        eprintln!("skipped the rest: there is no curl");
        return;
    };
    assert_eq!(answer, "200 1.1");
    issue(&place);
    assert!(curl(&place, &server, &[]).unwrap().contains("certificate"), "the old one is shown still");
    server.signal("HUP");
    server.notes_until("took up another certificate");
    assert_eq!(curl(&place, &server, &["--http1.1"]).unwrap(), "200 1.1");
    assert_eq!(server.end_by("TERM").0, Some(0));
}

#[test]
fn files_that_cannot_be_used_are_1_and_named() {
    let place = place();
    place.run("serve --tls-cert none.pem --tls-key key.pem").fails(1, &["--tls-cert", "none.pem cannot be read"]);
    place.run("serve --tls-cert chain.pem --tls-key none.pem").fails(1, &["none.pem cannot be read"]);
    place.run("serve --tls-cert key.pem --tls-key key.pem").fails(1, &["key.pem has no certificate"]);
    place.run("serve --tls-cert chain.pem --tls-key chain.pem").fails(1, &["chain.pem has no private key"]);
    place.write("other.pem", KeyPair::generate().unwrap().serialize_pem());
    place.run("serve --tls-cert chain.pem --tls-key other.pem").fails(1, &["other.pem does not belong to"]);
    assert!(!place.files().contains(&"catalogue.db".to_owned()), "nothing is made for what cannot be served");
}

#[test]
fn settings_that_cannot_be_are_2() {
    let place = place();
    place.run("serve --tls-cert chain.pem").fails(2, &["--tls-cert", "needs its key", "--tls-key"]);
    place.run_in(&[("CATALOGUE_TLS_KEY", "key.pem")], "serve").fails(2, &["CATALOGUE_TLS_KEY", "--tls-cert"]);
    place.run("serve --trusted-proxies 10.0.0.0/33").fails(2, &["--trusted-proxies", "like 10.0.0.0/8"]);
    place.run("serve --max-connections 0").fails(2, &["--max-connections", "from 1 on"]);
    place.run("serve --max-in-flight many").fails(2, &["--max-in-flight", "like 1000"]);
    place.run("serve --request-timeout 0s").fails(2, &["--request-timeout", "like 60s"]);
    place.write("c.toml", "max-connections = 0\n");
    place.run("serve --config c.toml").fails(2, &["c.toml: line 1: max-connections"]);
}
