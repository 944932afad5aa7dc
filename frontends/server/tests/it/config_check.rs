//! `config check` reports effective settings and all errors; `config example` prints a configuration file.

use serde_json::{Value, json};

use crate::program::TestDir;

/// Returns the value and the source of a setting.
fn row(displayed: &Value, setting: &str) -> (Value, String) {
    let rows = displayed["settings"].as_array().unwrap();
    let row = rows.iter().find(|row| row["setting"] == setting).unwrap_or_else(|| panic!("{setting}: {displayed}"));
    (row["value"].clone(), row["source"].as_str().unwrap().to_owned())
}

#[test]
fn each_value_is_shown_with_its_source() {
    let dir = TestDir::new();
    let file = "# limits\n\npage-cache = 1024\naccept = ['oauth']\nno-migrate = true\nlisten = '[::1]:1'\ntrusted-proxies = []\ndatabase-replicas = []\nbase-url = '/file'\n";
    dir.write("c.toml", file);
    let variables = [
        ("CATALOGUE_CONFIG", "missing.toml"),
        ("CATALOGUE_BASE_URL", "/environment"),
        ("CATALOGUE_LISTEN", "127.0.0.1:2"),
        ("CATALOGUE_DOCS_URL", ""),
    ];
    let arguments =
        "config check --json --config c.toml --base-url /x --cors-origin https://a.example https://b.example --wait";
    let displayed = dir.run_in(&variables, arguments).json();
    for (setting, value, source) in [
        ("base-url", json!("/x"), "--base-url"),
        ("cors-origin", json!(["https://a.example", "https://b.example"]), "--cors-origin"),
        ("wait", json!(true), "--wait"),
        ("listen", json!("127.0.0.1:2"), "CATALOGUE_LISTEN"),
        ("page-cache", json!(1024), "c.toml: line 3"),
        ("accept", json!(["oauth"]), "c.toml: line 4"),
        ("no-migrate", json!(true), "c.toml: line 5"),
        ("trusted-proxies", json!([]), "c.toml: line 7"),
        ("database-replicas", json!([]), "c.toml: line 8"),
        ("docs-url", json!("/docs"), "default"),
        ("max-connections", json!(15_000), "default"),
        ("database-pooler", json!(false), "default"),
        ("rate-limit", json!(null), "default"),
        ("tls-key", json!(null), "default"),
    ] {
        assert_eq!(row(&displayed, setting), (value, source.to_owned()));
    }
    let table = dir.run("config check").succeeds();
    assert!(table.starts_with("SETTING") && table.lines().any(|line| line.starts_with("listen ")), "{table}");
    assert_eq!(dir.files(), ["c.toml"], "no file is opened or created");
}

#[test]
fn settings_of_other_commands_are_ignored() {
    let dir = TestDir::new();
    let variables = [
        ("CATALOGUE_LISTEN", "here"),
        ("CATALOGUE_ACCEPT", "cookie"),
        ("CATALOGUE_NO_MIGRATE", "maybe"),
        ("CATALOGUE_FUTURE", "x"),
        ("CATALOGUE_", "x"),
    ];
    dir.write("c.toml", "listen = \"here\"\nshutdown-grace = \"?\"\n");
    dir.run_in(&variables, "migrate --config c.toml").succeeds();
    dir.run_in(&[("CATALOGUE_DATABASE", "nonsense")], "openapi").succeeds();
}

#[test]
fn errors_of_all_layers_are_reported_in_one_run() {
    let dir = TestDir::new();
    let file = [
        ("lisen = '127.0.0.1:0'", "no such key"),
        ("page-cache = true", "invalid size \"true\""),
        ("max-connections = 'many'", "invalid number \"many\""),
        ("max-in-flight = 0", "invalid number \"0\""),
        ("cors-origin = '*'", "\"*\""),
        ("rate-limit = '0/0s'", "\"0/0s\""),
        ("base-url = 'ftp://x'", "ftp://x"),
        ("docs-url = 'ftp://y'", "ftp://y"),
        ("database = 'mysql://u:s3cret@db/n'", "unknown kind of database \"mysql\""),
        ("request-timeout = '0s'", "\"0s\" is too short"),
        ("shutdown-grace = '10'", "invalid duration \"10\""),
        ("otlp-endpoint = 'here'", "collector"),
        ("trusted-proxies = 'proxy'", "\"proxy\""),
        ("accept = 'cookie'", "\"cookie\""),
        ("log = 'loud'", "not a level"),
        ("log-format = 'xml'", "invalid value \"xml\""),
    ];
    dir.write("c.toml", file.map(|(line, _)| line).join("\n"));
    let layers = [("CATALOGUE_DATABASE_TIMEOUT", "0s"), ("CATALOGUE_CONFIG", "c.toml"), ("CATALOGUE_WAIT", "soon")];
    let others = [
        "CATALOGUE_DATABASE_TIMEOUT",
        "CATALOGUE_WAIT",
        "--database-connections",
        "--admin-listen",
        "--tls-cert and --tls-key",
    ];
    let options = "--database-connections many --admin-listen there --tls-cert no.pem --tls-key no.pem";
    // `serve` reads the certificate only if all settings are valid.
    for (command, others) in [("config check", &others[..]), ("serve", &others[..4])] {
        let outcome = dir.run_in(&layers, &format!("{command} {options}"));
        let errors: Vec<_> = outcome.err.lines().collect();
        assert_eq!((outcome.status, errors.len()), (Some(2), file.len() + others.len()), "{outcome:?}");
        for (number, (line, piece)) in (1..).zip(file) {
            let start = format!("c.toml: line {number}: {}: ", line.split(' ').next().unwrap());
            let found = errors.iter().find(|error| error.contains(&start));
            assert!(found.is_some_and(|error| error.contains(piece)), "{line}: {outcome:?}");
        }
        for start in others {
            assert!(errors.iter().any(|error| error.starts_with(&format!("error: {start}: "))), "{start}: {outcome:?}");
        }
        assert!(!outcome.err.contains("s3cret"), "{outcome:?}");
    }
    assert_eq!(dir.files(), ["c.toml"]);
}

#[test]
fn non_utf8_file_error_names_line() {
    let dir = TestDir::new();
    dir.write("c.toml", b"wait = true\nlog = \"\xff\"\n");
    let output = "error: c.toml: line 2: not UTF-8; save the file as UTF-8\n";
    let outcome = dir.run("config check --config c.toml");
    assert_eq!((outcome.status, &*outcome.err), (Some(2), output));
    dir.run("config example --config c.toml").succeeds();
}

#[cfg(feature = "redis")]
#[test]
fn related_values_are_checked_despite_invalid_one() {
    let dir = TestDir::new();
    let pairs = [
        ("rate-limit = '0/0s'", "rate-limit-store = 'http://store'", "rate-limit-store = 'redis://store'"),
        ("otlp-endpoint = 'here'", "otlp-sample = '2'", "otlp-sample = '0.5'"),
        ("database = 'mysql://db/n'", "database-replicas = ['db']", "database-replicas = ['postgres://u@db/n']"),
    ];
    for (wrong, second, right) in pairs {
        for (other, errors) in [(second, 2), (right, 1)] {
            dir.write("c.toml", format!("{wrong}\n{other}\n"));
            let outcome = dir.run("config check --config c.toml");
            assert_eq!((outcome.status, outcome.err.lines().count()), (Some(2), errors), "{other}: {}", outcome.err);
        }
    }
}

#[test]
fn same_address_for_both_listeners_exits_2() {
    let dir = TestDir::new();
    for command in ["serve", "config check", "doctor"] {
        let pieces = ["--listen and --admin-listen: 127.0.0.1:1 cannot serve both"];
        dir.run(&format!("{command} --listen 127.0.0.1:1 --admin-listen 127.0.0.1:1")).fails(2, &pieces);
        dir.run(&format!("{command} --admin-listen 127.0.0.1:8080")).fails(2, &["--admin-listen: 127.0.0.1:8080"]);
    }
    dir.run("config check --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0").succeeds();
    dir.write("c.toml", "listen = '127.0.0.1:1'\n\nadmin-listen = '127.0.0.1:1'\n");
    let errors = ["line 1: listen and c.toml: line 3: admin-listen: 127.0.0.1:1"];
    dir.run("config check --config c.toml").fails(2, &errors);
    // The default that replaces an invalid value causes no further error.
    let wrong = dir.run("config check --listen here --admin-listen 127.0.0.1:8080");
    assert_eq!(wrong.err.lines().count(), 1, "{wrong:?}");
    assert_eq!(dir.files(), ["c.toml"]);
}

#[test]
fn unknown_variable_gets_suggestion() {
    let outcome = TestDir::new().run_in(&[("CATALOGUE_LISEN", "127.0.0.1:0")], "config check");
    let warning = "warning: CATALOGUE_LISEN: unknown variable; did you mean CATALOGUE_LISTEN?\n";
    assert_eq!((outcome.status, &*outcome.err), (Some(0), warning));
}

#[cfg(feature = "redis")]
#[test]
fn passwords_are_redacted_in_every_setting() {
    let dir = TestDir::new();
    dir.write("database", "postgres://u:s3cret@db.example/n?sslmode=disable\n");
    dir.write("c.toml", "rate-limit = '600/1m'\nrate-limit-store = 'redis://:s3cret@store.example:6379/0'\n");
    let arguments = "config check --config c.toml --database file:database \
                     --database-replicas postgres://u:s3cret@one.example/n postgres://u:s3cret@two.example/n";
    for json in ["", " --json"] {
        let outcome = dir.run(&format!("{arguments}{json}"));
        assert_eq!(outcome.status, Some(0), "{outcome:?}");
        let (out, err) = (outcome.out, outcome.err);
        assert!(!out.contains("s3cret") && !err.contains("s3cret"), "{out} {err}");
        let displayed =
            ["postgres://…@db.example/n", "postgres://…@one.example/n", "postgres://…@two.example/n", "file database"];
        for displayed in displayed {
            assert!(out.contains(displayed), "{displayed}: {out}");
        }
        assert!(out.contains("redis://…@store.example:6379/0"), "{out}");
    }
}

#[cfg(unix)]
#[test]
fn address_file_is_used_and_its_permissions_are_checked() {
    let dir = TestDir::new();
    dir.write("address", "sqlite:hidden.db\n");
    dir.set_mode("address", 0o640);
    dir.run("migrate --database file:address").succeeds();
    assert!(dir.path("hidden.db").is_file());
    dir.set_mode("address", 0o644);
    let outcome = dir.run_in(&[("CATALOGUE_DATABASE", "file:address")], "export");
    assert!(outcome.status == Some(0) && outcome.err.contains("address is readable by other users"), "{outcome:?}");
    dir.write("store", "redis://store.example:6379\n");
    dir.set_mode("store", 0o644);
    dir.write(
        "c.toml",
        "database = 'file:address'\nrate-limit = '1/1s'\nrate-limit-store = 'file:store'\nlisten = 'x'\n",
    );
    let outcome = dir.run("config check --config c.toml");
    let output = |name: &str| outcome.err.matches(&format!("{name} is readable by other users;")).count();
    assert_eq!([output("address"), output("store")], [1, 1], "{outcome:?}");
    let missing = [("CATALOGUE_DATABASE", "file:missing")];
    dir.run_in(&missing, "export").fails(2, &["CATALOGUE_DATABASE: cannot read missing: "]);
    dir.write("address", "s3cret");
    dir.run("export --database file:address --log off").fails(2, &["--database, file address: ", "has no scheme"]);
}

#[cfg(feature = "oauth")]
#[test]
fn example_configuration_is_valid() {
    let dir = TestDir::new();
    let example = dir.run("config example").succeeds();
    let packaged = include_str!("../../packaging/catalogue.toml");
    assert!(packaged == example, "regenerate it: catalogue config example > frontends/server/packaging/catalogue.toml");
    dir.write("c.toml", example);
    let displayed = dir.run("config check --config c.toml --json").json();
    assert_eq!(displayed, dir.run("config check --json").json());
}
