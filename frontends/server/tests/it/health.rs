//! `catalogue health`

use crate::https;
use crate::program::{Server, TestDir};

#[test]
fn health_is_a_success_that_is_answered() {
    let dir = TestDir::new();
    let server = Server::start(&mut dir.command("serve --listen 127.0.0.1:0"));
    let url = format!("http://{}", server.address);
    assert_eq!(dir.run(&format!("health {url}/docs/openapi.json")).succeeds(), "200: the server is well\n");
    dir.run(&format!("health {url}/api/v1/courses")).fails(1, &["answers 401"]);
    assert_eq!(server.end_by("TERM").0, Some(0));
    dir.run(&format!("health {url}/docs/openapi.json")).fails(1, &["does not answer"]);
    for wrong in ["127.0.0.1:8080", "https://127.0.0.1/", "http://", "ftp://h/"] {
        dir.run(&format!("health {wrong}")).fails(2, &["like http://127.0.0.1:8080/"]);
    }
}

#[test]
fn the_server_of_the_same_settings_is_asked() {
    let dir = TestDir::new();
    let server = Server::start(&mut dir.command("serve --listen 0.0.0.0:0 --docs-url https://a.example/x/documents"));
    let port = server.address.rsplit(':').next().unwrap();
    dir.write("c.toml", format!("listen = '0.0.0.0:{port}'\ndocs-url = 'https://a.example/x/documents'\n"));
    for (variable, value) in [("CATALOGUE_CONFIG", "c.toml".to_owned()), ("CATALOGUE_LISTEN", format!("[::]:{port}"))] {
        let outcome = dir.run_in(&[(variable, &value)], "health");
        match variable {
            "CATALOGUE_CONFIG" => assert_eq!(outcome.succeeds(), "200: the server is well\n"),
            // Where it is not, and nobody listens.
            _ => outcome.fails(1, &[&format!("[::1]:{port} does not answer")]),
        }
    }
    let other = [("CATALOGUE_CONFIG", "c.toml"), ("CATALOGUE_DOCS_URL", "/docs")];
    dir.run_in(&other, "health").fails(1, &["answers 404"]);
    let address = server.address.clone();
    assert_eq!(server.end_by("TERM").0, Some(0));
    dir.run("health --config c.toml").fails(1, &["does not answer"]);
    dir.run_in(&[("CATALOGUE_LISTEN", &address), ("CATALOGUE_CONFIG", "")], "health").fails(1, &["does not answer"]);
    dir.run_in(&[("CATALOGUE_LISTEN", "127.0.0.1:0")], "health").fails(2, &["a port that is found", "http://ADDRESS"]);
    dir.run_in(&[("CATALOGUE_LISTEN", "here")], "health").fails(2, &["CATALOGUE_LISTEN"]);
}

#[test]
fn server_with_a_certificate_speaks_tls() {
    let dir = https::dir_with_certificate();
    let server = Server::start(&mut dir.command(https::SERVE));
    let variables = [("CATALOGUE_LISTEN", &*server.address), ("CATALOGUE_TLS_CERT", "chain.pem")];
    assert_eq!(dir.run_in(&variables, "health").succeeds(), "the server is well, and speaks TLS\n");
    dir.run_in(&variables[..1], "health").fails(1, &["answers 400"]);

    let plain = Server::start(&mut dir.command("serve --listen 127.0.0.1:0"));
    let variables = [("CATALOGUE_LISTEN", &*plain.address), ("CATALOGUE_TLS_CERT", "chain.pem")];
    dir.run_in(&variables, "health").fails(1, &["answers 200"]);
}
