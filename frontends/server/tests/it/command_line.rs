//! Help, versions, and command lines that cannot be.

use crate::program::Place;

#[test]
fn help_and_version_go_to_standard_output() {
    let place = Place::new();
    for arguments in ["--help", "-h", "serve --help", "keys create --help", "import -h"] {
        let help = place.run(arguments).succeeds();
        assert!(help.contains("Usage: catalogue") && help.contains("Example"), "{arguments}: {help}");
    }
    assert_eq!(place.run("--version").succeeds(), format!("catalogue {}\n", env!("CARGO_PKG_VERSION")));
    assert!(place.files().is_empty());
}

#[test]
fn wrong_command_lines_are_2() {
    let place = Place::new();
    for (arguments, piece) in [
        ("", "requires a subcommand"),
        ("keys", "requires a subcommand"),
        ("tokens", "requires a subcommand"),
        ("dance", "dance"),
        ("serve --lisen 127.0.0.1:0", "--listen"),
        ("import", "<FILE>"),
        ("import a b", "'b'"),
        ("export courses.jsonl", "courses.jsonl"),
        ("keys create --account a --scope read:courses", "--name"),
        ("keys create --account a --name n", "--scope"),
        ("keys create --account a --name n --scope", "--scope"),
        ("keys create --account a --name n --scope read:everything", "read:everything"),
        ("keys create --account a --name n --scope read:courses --expires-in 90", "like 90d"),
        ("keys create --account a --name n --scope read:courses --expires-in 99999999999999999999d", "longer than"),
        ("keys revoke", "<ID>"),
        ("openapi --format yaml", "json-3.0"),
        ("serve --listen localhost", "--listen: \"localhost\" is not an address"),
        ("serve --listen 127.0.0.1:65536", "--listen"),
        ("serve --shutdown-grace ten", "--shutdown-grace"),
        ("serve --accept api-key,cookie", "--accept: \"cookie\""),
        ("serve --base-url ftp://example.com/api", "--base-url"),
        ("serve --docs-url docs", "--docs-url"),
        ("serve --base-url /x --docs-url /x", "same path"),
        ("serve --cors-origin *", "--cors-origin"),
        ("export --database mysql://db/catalogue", "--database: \"mysql\""),
        ("export --database catalogue.db", "--database"),
        ("serve --database postgres://u@h/n", "no PostgreSQL"),
        ("migrate --database sqlite:", "no path"),
        ("migrate --database sqlite::memory:", "nothing to migrate"),
        ("export --log catalogue=loud", "--log"),
        ("export --config missing.toml", "missing.toml"),
    ] {
        place.run(arguments).fails(2, &[piece]);
    }
    assert!(place.files().is_empty(), "{:?}", place.files());
}

#[test]
fn a_missing_database_is_1_and_is_not_made() {
    let place = Place::new();
    for arguments in [
        "export",
        "keys list --account a",
        "keys create --account a --name n --scope read:courses",
        "keys revoke key_1",
        "tokens create --account a --scope read:courses",
        "serve --no-migrate --listen 127.0.0.1:0",
        "demo --no-migrate --database sqlite:catalogue.db --listen 127.0.0.1:0",
        "import --no-migrate -",
    ] {
        place.run(arguments).fails(1, &["catalogue.db"]);
    }
    for arguments in ["migrate", "import -", "import --dry-run -", "serve --listen 127.0.0.1:0"] {
        place.run(&format!("{arguments} --database sqlite:no/such/catalogue.db")).fails(1, &["directory"]);
    }
    assert!(place.files().is_empty(), "{:?}", place.files());
}

#[test]
fn options_may_stand_before_and_after_the_command_and_its_operands() {
    let place = Place::new();
    for (number, arguments) in [
        "--database sqlite:0.db import --json -",
        "import --database sqlite:1.db - --json",
        "import - --json --database=sqlite:2.db",
        "--log warn import --json --config empty.toml - --database sqlite:3.db",
    ]
    .into_iter()
    .enumerate()
    {
        place.write("empty.toml", "");
        place.run(arguments).json();
        assert!(place.path(&format!("{number}.db")).is_file(), "{arguments}");
    }
}

/// Whoever reads may stop doing so (`| head`): no panic, no message.
#[test]
fn a_closed_standard_output_is_no_fault() {
    let place = Place::with_courses();
    for arguments in ["export", "openapi", "--help", "keys list --account a"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = place.command(arguments).stdout(writer).output().unwrap();
        assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]), "{arguments}");
    }
}

/// A token is shown once: where it was not, that is told.
#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_1() {
    let place = Place::with_courses();
    for (arguments, piece) in [
        ("export", "standard output"),
        ("openapi", "standard output"),
        ("keys create --account a --name n --scope read:courses", "revoke it"),
    ] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = place.command(arguments).stdout(full).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments}");
        assert!(message.starts_with("error: ") && message.contains(piece), "{message}");
    }
}
