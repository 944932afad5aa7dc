//! What `--database` may name: each mistake is told in one sentence, without a password.

use catalogue_postgres_cluster::Cluster;

use super::scene::{Scene, url};
use crate::program::Place;
use crate::secrets::ALL;

#[test]
fn every_layer_can_name_one() {
    let Some(scene) = Scene::new() else { return };
    let place = &scene.place;
    let address = &scene.address;
    assert!(place.run(&format!("migrate --database {address}")).succeeds().contains("new database"));
    assert!(
        place.run(&format!("--database {} migrate", address.replace("postgres:", "postgresql:"))).status == Some(0)
    );
    place.write(
        "c.toml",
        format!("database = {address:?}\ndatabase-pooler = true\ndatabase-connections = 3\nwait = true\n"),
    );
    place.run("import - --config c.toml").succeeds();
    place.run_in(&[("CATALOGUE_DATABASE", address), ("CATALOGUE_DATABASE_POOLER", "true")], "export").succeeds();
    assert_eq!(place.files(), ["c.toml"]);
}

#[test]
fn a_database_out_of_reach_is_1() {
    let Some(cluster) = Cluster::shared() else { return };
    let place = Place::new();
    let role = url(cluster, "postgres").replace("postgres@", "nobody:s3cret@");
    for (address, pieces) in [
        ("postgres://u:s3cret@127.0.0.1:1/n".to_owned(), ["postgres://127.0.0.1:1/n: ", "; start the database"]),
        ("postgres:///n?host=/no/such&password=s3cret".to_owned(), ["postgres:///no/such/n: ", "; start the database"]),
        (url(cluster, "missing"), ["no database of this name", "; make it"]),
        (role, ["\"nobody\"", "; correct the user"]),
    ] {
        for command in ["export", "migrate", "import -", "import - --dry-run", "serve --listen 127.0.0.1:0"] {
            let outcome = place.run_in(&[("CATALOGUE_DATABASE", &address)], command);
            assert!(!outcome.err.contains("s3cret"), "{outcome:?}");
            outcome.fails(1, &pieces);
        }
    }
    assert!(place.files().is_empty(), "{:?}", place.files());
}

#[test]
fn no_message_repeats_a_password() {
    let place = Place::new();
    for (arguments, status) in [
        ("export --database postgres://u:s3cret@h:x/n", 2),
        ("export --database postgres://u:a@s3cret@h/n", 2),
        ("export --database postgres://u:s3cret@h/n?sslmode=s3cret", 2),
        ("export postgres://u:s3cret@h/n", 2),
        ("--databse=postgres://u:s3cret@h/n export", 2),
        ("import postgres://u:s3cret@h/n", 1),
    ] {
        let outcome = place.run(arguments);
        assert!(!outcome.err.contains("s3cret"), "{outcome:?}");
        outcome.fails(status, &[]);
    }
}

#[test]
fn the_log_shows_host_and_name_alone() {
    let Some(scene) = Scene::new() else { return };
    let with_password = scene.address.replace("postgres@", "postgres:s3cret@");
    let mut command = scene.command(&format!("serve --listen 127.0.0.1:0 --log {ALL}"));
    let mut server = crate::program::Server::start(
        command.env("CATALOGUE_DATABASE", with_password).stderr(std::process::Stdio::piped()),
    );
    server.signal("TERM");
    let notes = server.notes_until("stopped").join("\n");
    assert!(notes.contains(&scene.address.replace("postgres@", "")) && !notes.contains("s3cret"), "{notes}");
}
