//! `catalogue health`

use crate::https;
use crate::program::{Server, TestDir};

#[test]
fn health_exits_0_only_for_2xx() {
    let dir = TestDir::new();
    let server = dir.serve("");
    let url = format!("http://{}", server.address);
    assert_eq!(dir.run(&format!("health {url}/docs/openapi.json")).succeeds(), "200: healthy\n");
    dir.run(&format!("health {url}/api/v1/courses")).fails(1, &["returned 401"]);
    assert_eq!(server.stop_with("TERM").0, Some(0));
    dir.run(&format!("health {url}/docs/openapi.json")).fails(1, &["does not respond"]);
    for wrong in ["127.0.0.1:8080", "https://127.0.0.1/", "http://", "ftp://h/"] {
        dir.run(&format!("health {wrong}")).fails(2, &["invalid URL ", "e.g. http://127.0.0.1:8080/"]);
    }
}

#[test]
fn health_derives_url_from_settings() {
    let dir = TestDir::new();
    let server = Server::start(&mut dir.command("serve --listen 0.0.0.0:0 --docs-url https://a.example/x/documents"));
    let port = server.address.rsplit(':').next().unwrap();
    dir.write("c.toml", format!("listen = '0.0.0.0:{port}'\ndocs-url = 'https://a.example/x/documents'\n"));
    for (variable, value) in [("CATALOGUE_CONFIG", "c.toml".to_owned()), ("CATALOGUE_LISTEN", format!("[::]:{port}"))] {
        let outcome = dir.run_in(&[(variable, &value)], "health");
        match variable {
            "CATALOGUE_CONFIG" => assert_eq!(outcome.succeeds(), "200: healthy\n"),
            // The server listens only on IPv4 addresses.
            _ => outcome.fails(1, &[&format!("[::1]:{port} does not respond")]),
        }
    }
    let other = [("CATALOGUE_CONFIG", "c.toml"), ("CATALOGUE_DOCS_URL", "/docs")];
    dir.run_in(&other, "health").fails(1, &["returned 404"]);
    let address = server.address.clone();
    assert_eq!(server.stop_with("TERM").0, Some(0));
    dir.run("health --config c.toml").fails(1, &["does not respond"]);
    dir.run_in(&[("CATALOGUE_LISTEN", &address), ("CATALOGUE_CONFIG", "")], "health").fails(1, &["does not respond"]);
    dir.run_in(&[("CATALOGUE_LISTEN", "127.0.0.1:0")], "health").fails(2, &["port is not known", "http://ADDRESS"]);
    dir.run_in(&[("CATALOGUE_LISTEN", "here")], "health").fails(2, &["CATALOGUE_LISTEN"]);
}

#[test]
fn health_uses_tls_with_certificate() {
    let dir = https::dir_with_certificate();
    let server = Server::start(&mut dir.command(https::SERVE));
    let variables = [("CATALOGUE_LISTEN", &*server.address), ("CATALOGUE_TLS_CERT", "chain.pem")];
    assert_eq!(dir.run_in(&variables, "health").succeeds(), "healthy, with TLS\n");
    dir.run_in(&variables[..1], "health").fails(1, &["returned 400"]);

    let plain = dir.serve("");
    let variables = [("CATALOGUE_LISTEN", &*plain.address), ("CATALOGUE_TLS_CERT", "chain.pem")];
    dir.run_in(&variables, "health").fails(1, &["returned 200"]);
}
