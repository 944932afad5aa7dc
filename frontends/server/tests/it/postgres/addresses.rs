//! `--database`: each mistake is reported in one sentence, without a password.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use catalogue_postgres_cluster::Cluster;

use super::fixture::url;
use crate::observed::Observed;
use crate::program::TestDir;
use crate::secrets::ALL_EVENTS;

#[test]
fn database_address_can_be_set_in_every_option_layer() {
    let Some(fixture) = TestDir::postgres() else { return };
    let dir = &fixture;
    let address = &fixture.address;
    assert!(dir.run(&format!("migrate --database {address}")).succeeds().contains("new database"));
    assert!(dir.run(&format!("--database {} migrate", address.replace("postgres:", "postgresql:"))).status == Some(0));
    dir.write(
        "c.toml",
        format!("database = {address:?}\ndatabase-pooler = true\ndatabase-connections = 3\nwait = true\n"),
    );
    dir.run("import - --config c.toml").succeeds();
    dir.run_in(&[("CATALOGUE_DATABASE", address), ("CATALOGUE_DATABASE_POOLER", "true")], "export").succeeds();
    assert_eq!(dir.files(), ["c.toml"]);
}

#[test]
fn unreachable_database_exits_1() {
    let Some(cluster) = Cluster::shared() else { return };
    let dir = TestDir::new();
    let role = url(cluster, "postgres").replace("postgres@", "nobody:s3cret@");
    for (address, pieces) in [
        ("postgres://u:s3cret@127.0.0.1:1/n".to_owned(), ["postgres://127.0.0.1:1/n: ", "; start the database"]),
        ("postgres:///n?host=/no/such&password=s3cret".to_owned(), ["postgres:///no/such/n: ", "; start the database"]),
        (url(cluster, "missing"), ["the database does not exist", "; create it"]),
        (role, ["\"nobody\"", "; correct the user"]),
    ] {
        for command in ["export", "migrate", "import -", "import - --dry-run", "serve --listen 127.0.0.1:0"] {
            let outcome = dir.run_in(&[("CATALOGUE_DATABASE", &address)], command);
            assert!(!outcome.err.contains("s3cret"), "{outcome:?}");
            outcome.fails(1, &pieces);
        }
    }
    assert!(dir.files().is_empty(), "{:?}", dir.files());
}

/// Uses a fake server, which sends only a request for a password.
#[test]
fn missing_password_is_reported() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            let _ = client.read(&mut [0; 1_000]).unwrap();
            client.write_all(b"R\0\0\0\x08\0\0\0\x03").unwrap();
            let _ = client.read(&mut [0]);
        }
    });
    let dir = TestDir::new();
    let variables = [("PGPASSWORD", "s3cret")];
    dir.run_in(&variables, &format!("export --database postgres://u@{address}/n")).fails(
        1,
        &[
            "the database requires a password, but none is set; use postgres://USER:PASSWORD@HOST/DATABASE",
            "file:PATH",
            "PGPASSWORD is not read",
        ],
    );
}

#[test]
fn errors_do_not_repeat_passwords() {
    let dir = TestDir::new();
    for (arguments, status) in [
        ("export --database postgres://u:s3cret@h:x/n", 2),
        ("export --database postgres://u:a@s3cret@h/n", 2),
        ("export --database postgres://u:s3cret@h/n?sslmode=s3cret", 2),
        ("export postgres://u:s3cret@h/n", 2),
        ("--databse=postgres://u:s3cret@h/n export", 2),
        ("import postgres://u:s3cret@h/n", 1),
    ] {
        let outcome = dir.run(arguments);
        assert!(!outcome.err.contains("s3cret"), "{outcome:?}");
        outcome.fails(status, &[]);
    }
}

#[test]
fn log_contains_only_host_and_database_name() {
    let Some(fixture) = TestDir::postgres() else { return };
    let with_password = fixture.address.replace("postgres@", "postgres:s3cret@");
    let serve = format!("serve --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0 --log {ALL_EVENTS}");
    let mut command = fixture.command(&serve);
    let log = Observed::start_with(&fixture, command.env("CATALOGUE_DATABASE", with_password)).stop_and_read_log();
    assert!(log.contains(&fixture.address.replace("postgres@", "")) && !log.contains("s3cret"), "{log}");
}
