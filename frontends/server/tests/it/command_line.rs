//! Help, versions, invalid command lines, database paths, and standard output that is closed or full.

use std::fs::File;
use std::io::pipe;

use crate::program::{Outcome, TestDir};

#[test]
fn help_and_version_go_to_standard_output() {
    let dir = TestDir::new();
    for arguments in ["--help", "-h", "serve --help", "keys create --help", "import -h"] {
        let help = dir.run(arguments).succeeds();
        assert!(help.contains("Usage: catalogue") && help.contains("Example"), "{arguments}: {help}");
    }
    assert_eq!(dir.run("--version").succeeds(), format!("catalogue {}\n", env!("CARGO_PKG_VERSION")));
    assert!(dir.files().is_empty());
}

#[test]
fn invalid_arguments_exit_2() {
    let dir = TestDir::new();
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
        ("keys create --account a --name n --scope read:courses --expires-in 90", "like 90d"),
        ("tokens create --account a --scope read:courses --expires-in 0d", "use at least 1s, like 90d"),
        ("keys rotate key_1 --expires-in 0h", "--expires-in"),
        ("keys revoke", "<ID>"),
        ("openapi --format yaml", "json-3.0"),
        ("serve --listen localhost", "--listen: invalid address \"localhost\""),
        ("serve --port 8080", "tip: use `--listen 127.0.0.1:8080`"),
        ("serve --port=8080", "tip: use `--listen 127.0.0.1:8080`"),
        ("demo -p 8080", "tip: use `--listen 127.0.0.1:8080`"),
        ("serve --shutdown-grace 18446744073709551615s", "--shutdown-grace: \"18446744073709551615s\" is out of range"),
        ("serve --base-url /x --docs-url /x", "--base-url and --docs-url: "),
        ("openapi --base-url /docs", "error: --base-url: "),
        ("openapi --base-url example", "e.g. https://api.example.com/api/v1"),
        ("openapi --format llms --docs-url a?b", "--docs-url"),
        ("serve --trusted-proxies 10.0.0.0/33", "use e.g. 10.0.0.0/8"),
        #[cfg(feature = "redis")]
        ("serve --rate-limit-store redis://127.0.0.1", "--rate-limit-store: no effect without --rate-limit"),
        ("serve --otlp-sample 0.5", "--otlp-endpoint"),
        ("export --database catalogue.db", "--database"),
        ("export --database postgres:///n", "use postgres://"),
        ("export --database postgres://h/n?foo=bar", "unknown parameter in the connection string"),
        (
            "export --database postgres://h/n?foo=bar",
            "with sslmode, sslrootcert, sslcert, sslkey, target_session_attrs, a",
        ),
        (
            "export --database postgres://h/n?sslmode=verify-full&sslmode=disable",
            "sslmode occurs twice in the connection string; use it once",
        ),
        ("serve --database-connections 0", "from 1 to 1000"),
        ("serve --database-timeout 0s", "from 1s to 1d"),
        ("serve --database postgres://u:s3cret@h:x/n", "--database: invalid connection string"),
        ("migrate --database sqlite:", "no path"),
        ("migrate --database sqlite:x.db?mode=ro", "; use sqlite:PATH, e.g."),
        ("migrate --database sqlite::memory:", "nothing to migrate"),
        ("export --log catalogue=loud", "--log: \"loud\" is not a level"),
        ("export --log=", "--log: the log filter \"\" is empty"),
        ("export --config missing.toml", "--config: cannot read the configuration file missing.toml"),
        ("openapi --config .", "cannot read the configuration file ."),
    ] {
        dir.run(arguments).fails(2, &[piece]);
    }
    assert!(dir.files().is_empty(), "{:?}", dir.files());
}

/// Messages repeat arguments, which can have any length and content.
#[test]
fn messages_fit_on_one_screen() {
    let dir = TestDir::new();
    for text in ["x".repeat(100_000), "x\n".repeat(10_000), "\u{1b}[2J".repeat(10_000)] {
        for arguments in [&[&*format!("--lisen={text}")][..], &["--shutdown-grace", &text], &["--listen", &text]] {
            let output = dir.command("serve").args(arguments).output().unwrap();
            assert!(output.stderr.len() < 2_000 && !output.stderr.contains(&0x1b), "{output:?}");
            Outcome::from(output).fails(2, &[]);
        }
    }
    // A shortened message keeps clap's ending.
    dir.run(&format!("serve --lisen={}", "x".repeat(100_000))).fails(2, &["unexpected argument", "try '--help'"]);
}

#[test]
fn missing_database_exits_1_and_is_not_created() {
    let dir = TestDir::new();
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
        dir.run(arguments).fails(1, &["catalogue.db"]);
    }
    for arguments in ["migrate", "import -", "import --dry-run -", "serve --listen 127.0.0.1:0"] {
        dir.run(&format!("{arguments} --database sqlite:no/such/catalogue.db")).fails(1, &["directory"]);
    }
    assert!(dir.files().is_empty(), "{:?}", dir.files());
}

#[test]
fn options_are_accepted_before_and_after_operands() {
    let dir = TestDir::new();
    for (number, arguments) in [
        "--database sqlite:0.db import --json -",
        "import --database sqlite:1.db - --json",
        "import - --json --database=sqlite:2.db",
        "--log warn import --json --config empty.toml - --database sqlite:3.db",
    ]
    .into_iter()
    .enumerate()
    {
        dir.write("empty.toml", "");
        dir.run(arguments).json();
        assert!(dir.path(&format!("{number}.db")).is_file(), "{arguments}");
    }
}

/// A relative path stays a path, even if SQLite could take it for a URI.
#[test]
fn sqlite_file_may_have_any_name() {
    let dir = TestDir::new();
    for name in ["./file:foo.db", "a?b.db", ":memory:x", "a b.db"] {
        let mut command = dir.command("import - --database");
        let output = command.arg(format!("sqlite:{name}")).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(dir.path(name).is_file(), "{name} among {:?}", dir.files());
    }
    assert_eq!(dir.files().len(), 4, "{:?}", dir.files());
}

#[test]
fn locked_database_is_reported_in_one_sentence() {
    let dir = TestDir::with_courses();
    let other = dir.host();
    other.run("BEGIN IMMEDIATE");
    let outcome = dir.run("import courses.jsonl");
    assert!(outcome.err.ends_with("try again when it is done\n"), "{outcome:?}");
    outcome.fails(1, &["nothing was changed: another program is writing"]);
}

/// The reader of a pipe may stop early (`| head`): no panic, no message.
#[test]
fn closed_standard_output_exits_0() {
    let dir = TestDir::with_courses();
    for arguments in ["export", "openapi", "--help", "keys list --account a"] {
        let (reader, writer) = pipe().unwrap();
        drop(reader);
        let output = dir.command(arguments).stdout(writer).output().unwrap();
        assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]), "{arguments}");
    }
}

/// The message reports what the command has changed. A token that was not printed is lost, so it must be revoked.
#[cfg(target_os = "linux")]
#[test]
fn unwritable_output_exits_1() {
    let dir = TestDir::with_courses();
    let (key, _) = dir.key("a");
    let [rotate, revoke] = ["rotate", "revoke"].map(|what| format!("keys {what} {key}"));
    for (arguments, piece) in [
        (&*rotate, "revoke it"),
        (&*revoke, "is revoked, but standard output"),
        ("migrate --database sqlite:new.db", "created a new database: schema version"),
        ("export", "standard output"),
        ("openapi", "standard output"),
        ("keys create --account a --name n --scope read:courses", "revoke it"),
        ("import courses.jsonl", "all was imported"),
        ("import courses.jsonl --dry-run", "nothing was changed"),
    ] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = dir.command(arguments).stdout(full).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments}");
        assert!(message.starts_with("error: ") && message.contains(piece), "{message}");
    }
}
