//! `serve --wait`: start while the database is unavailable.

use std::net::{TcpListener, TcpStream};

use catalogue_postgres_cluster::Cluster;

use super::fixture::url;
use crate::program::{RunningCommand, TestDir};

/// Returns a stopped cluster, or `None` if PostgreSQL is missing and not required.
fn stopped() -> Option<(Cluster, TestDir)> {
    Cluster::shared()?;
    let cluster = Cluster::start().unwrap();
    let fixture = TestDir::over(url(&cluster, "postgres"));
    cluster.control(&["-m", "immediate", "stop"]);
    Some((cluster, fixture))
}

#[test]
fn serve_exits_if_database_stays_down() {
    let Some((_cluster, fixture)) = stopped() else { return };
    for arguments in
        ["serve --listen 127.0.0.1:0", "serve --listen 127.0.0.1:0 --wait=false", "demo --listen 127.0.0.1:0"]
    {
        fixture.run(arguments).fails(1, &["/postgres: the database is unreachable", "start the database"]);
    }
    let outcome = fixture.run("serve --listen 127.0.0.1:0 --wait 1s");
    assert_eq!((outcome.status, &*outcome.out), (Some(1), ""));
    let lines: Vec<_> = outcome.err.lines().collect();
    assert_eq!(lines.len(), 2, "{outcome:?}");
    assert!(lines[0].contains("WARN") && lines[0].contains("waiting for the database"), "{outcome:?}");
    assert!(lines[1].starts_with("error: postgres://"), "{outcome:?}");
    for signal in ["TERM", "INT"] {
        let mut run = RunningCommand::start(&mut fixture.command("serve --listen 127.0.0.1:0 --wait 1d"));
        run.notes_until("waiting for the database");
        let outcome = run.stop_with(signal);
        assert_eq!((outcome.status, &*outcome.out), (Some(0), ""), "{signal}: {outcome:?}");
    }
}

#[test]
fn serve_with_wait_starts_when_database_is_up() {
    let Some((cluster, fixture)) = stopped() else { return };
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut run = RunningCommand::start(&mut fixture.command(&format!("serve --wait --listen {free}")));
    let notes = run.notes_until("waiting for the database");
    assert!(notes.len() == 1 && notes[0].contains("unreachable"), "{notes:?}");
    // The server does not listen yet, so no client waits in its accept queue.
    assert!(TcpStream::connect(free).is_err());
    cluster.control(&["start"]);
    assert_eq!(run.line(), format!("listening on http://{free}\n"));
    assert!(TcpStream::connect(free).is_ok());
}

#[test]
fn serve_does_not_wait_for_permanent_errors() {
    let Some(cluster) = Cluster::shared() else { return };
    let dir = TestDir::new();
    let serve = |address: &str| {
        dir.run_in(&[("CATALOGUE_DATABASE", address), ("CATALOGUE_WAIT", "1d")], "serve --listen 127.0.0.1:0")
    };
    serve(&url(cluster, "missing")).fails(1, &["the database does not exist"]);
    serve(&url(cluster, "postgres").replace("postgres@", "nobody@")).fails(1, &["\"nobody\""]);
    serve("sqlite:no/such/catalogue.db").fails(1, &["directory"]);
}

#[test]
fn serve_waits_for_free_database_connections() {
    let Some(fixture) = TestDir::postgres_with_courses() else { return };
    let host = fixture.host();
    let name = &host.texts("SELECT CAST(current_database() AS TEXT)")[0];
    host.run(&format!(
        "CREATE ROLE of_{name} LOGIN CONNECTION LIMIT 0; GRANT SELECT ON ALL TABLES IN SCHEMA public TO of_{name}"
    ));
    let mut command = fixture.command("serve --wait --listen 127.0.0.1:0");
    command.env("CATALOGUE_DATABASE", fixture.address.replace("postgres@", &format!("of_{name}@")));
    let mut run = RunningCommand::start(&mut command);
    assert!(run.notes_until("waiting for the database")[0].contains("out of memory, disk space or connections"));
    host.run(&format!("ALTER ROLE of_{name} CONNECTION LIMIT 5"));
    assert!(run.line().starts_with("listening on "));
}
