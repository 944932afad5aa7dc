//! Layers of settings: the command line overrides the environment, which overrides the file.

use crate::program::TestDir;

/// Returns the server's URL in the OpenAPI document. Each layer sets a different URL.
fn base_url(dir: &TestDir, variables: &[(&str, &str)], arguments: &str) -> String {
    let document = dir.run_in(variables, &format!("openapi {arguments}")).json();
    document["servers"][0]["url"].as_str().unwrap().to_owned()
}

#[test]
fn command_line_overrides_environment_and_file() {
    let dir = TestDir::new();
    dir.write("c.toml", "base-url = \"https://file.example/api/v1\"\n");
    let variable = ("CATALOGUE_BASE_URL", "https://env.example/api/v1");
    let named = ("CATALOGUE_CONFIG", "c.toml");
    assert_eq!(base_url(&dir, &[], ""), "/api/v1");
    assert_eq!(base_url(&dir, &[named], ""), "https://file.example/api/v1");
    assert_eq!(base_url(&dir, &[], "--config c.toml"), "https://file.example/api/v1");
    assert_eq!(base_url(&dir, &[variable, named], ""), "https://env.example/api/v1");
    assert_eq!(
        base_url(&dir, &[variable, named], "--base-url https://line.example/api/v1"),
        "https://line.example/api/v1"
    );
}

#[test]
fn config_option_overrides_config_variable() {
    let dir = TestDir::new();
    dir.write("c.toml", "base-url = \"/line/v1\"\n");
    assert_eq!(base_url(&dir, &[("CATALOGUE_CONFIG", "missing.toml")], "--config c.toml"), "/line/v1");
}

#[test]
fn database_is_read_from_all_layers() {
    let dir = TestDir::new();
    dir.write("c.toml", "database = \"sqlite:file.db\"");
    let creates = |variables: &[(&str, &str)], arguments: &str, name: &str| {
        dir.run_in(variables, arguments).succeeds();
        assert!(dir.path(name).is_file(), "{name} among {:?}", dir.files());
    };
    creates(&[], "migrate", "catalogue.db");
    creates(&[], "migrate --config c.toml", "file.db");
    creates(&[("CATALOGUE_DATABASE", "sqlite:env.db")], "migrate --config c.toml", "env.db");
    creates(&[("CATALOGUE_DATABASE", "sqlite:env.db")], "migrate --database sqlite:line.db --config c.toml", "line.db");
}

#[test]
fn flag_is_read_from_all_layers() {
    let dir = TestDir::new();
    dir.write("c.toml", "no-migrate = true");
    dir.run("import - --no-migrate").fails(1, &["catalogue.db"]);
    dir.run_in(&[("CATALOGUE_NO_MIGRATE", "true")], "import -").fails(1, &["catalogue.db"]);
    dir.run("import - --config c.toml").fails(1, &["catalogue.db"]);
    dir.run_in(&[("CATALOGUE_NO_MIGRATE", "maybe")], "import -").fails(2, &["CATALOGUE_NO_MIGRATE", "true"]);
    dir.run_in(&[("CATALOGUE_NO_MIGRATE", "false")], "import - --config c.toml").succeeds();
}

#[test]
fn invalid_values_exit_2_and_name_source() {
    let dir = TestDir::new();
    dir.write("c.toml", "# where\n\nlisten = \"here\"\n");
    dir.run("serve --config c.toml").fails(2, &["c.toml: line 3: listen", "127.0.0.1:8080"]);
    for (variable, value) in [
        ("CATALOGUE_LISTEN", "here"),
        ("CATALOGUE_ACCEPT", "cookie"),
        ("CATALOGUE_ACCEPT", " "),
        ("CATALOGUE_PAGE_CACHE", "much"),
        ("CATALOGUE_CORS_ORIGIN", "app.example.com"),
        ("CATALOGUE_SHUTDOWN_GRACE", "10"),
        ("CATALOGUE_BASE_URL", "example"),
        ("CATALOGUE_DOCS_URL", "ftp://example"),
        ("CATALOGUE_DATABASE", "catalogue.db"),
        ("CATALOGUE_LOG", "a=b=c"),
    ] {
        dir.run_in(&[(variable, value)], "serve").fails(2, &[variable]);
    }
    assert_eq!(dir.files(), ["c.toml"]);
}

#[test]
fn empty_variables_are_ignored() {
    let dir = TestDir::new();
    let names = ["LISTEN", "ACCEPT", "CORS_ORIGIN", "SHUTDOWN_GRACE", "BASE_URL", "DATABASE", "LOG", "NO_MIGRATE"];
    let names: Vec<_> = names.iter().map(|name| format!("CATALOGUE_{name}")).collect();
    let variables: Vec<_> = names.iter().map(|name| (&**name, "")).chain([("CATALOGUE_PAGE_CACHE", "")]).collect();
    // Only `--docs-url` is invalid.
    dir.run_in(&variables, "serve --docs-url docs").fails(2, &["--docs-url"]);
    dir.run_in(&variables, "migrate").succeeds();
    assert_eq!(dir.files(), ["catalogue.db"]);
}

#[test]
fn url_path_conflict_names_both_sources() {
    let dir = TestDir::new();
    dir.write("c.toml", "docs-url = \"/x\"\n");
    let variables = [("CATALOGUE_BASE_URL", "/x"), ("CATALOGUE_CONFIG", "c.toml")];
    dir.run_in(&variables, "serve").fails(2, &["CATALOGUE_BASE_URL and c.toml: line 1: docs-url: ", "same path"]);
    dir.run("serve --base-url /docs").fails(2, &["error: --base-url: ", "same path"]);
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
fn invalid_file_exits_2_and_names_line() {
    let dir = TestDir::new();
    for (text, pieces) in [
        ("\nlisen = \"127.0.0.1:0\"", ["c.toml: line 2: lisen", "did you mean \"listen\"?"]),
        ("base_url = \"/api/v1\"", ["c.toml: line 1: base_url", "base-url"]),
        ("log = \"info\"\nlog = \"info\"", ["c.toml: line 2", "duplicate"]),
        ("log: info", ["c.toml: line 1", "not TOML"]),
        ("\"a\\nb\\nc\" = 1", ["c.toml: line 1: a\\nb\\nc: no such key", ""]),
        ("page-cache = 1.5", ["c.toml: line 1: page-cache", "a string in quotes"]),
    ] {
        dir.write("c.toml", text);
        dir.run("openapi --config c.toml").fails(2, &pieces);
        dir.run_in(&[("CATALOGUE_CONFIG", "c.toml")], "openapi").fails(2, &pieces);
    }
    dir.write("c.toml", b"log = \"\xff\"");
    dir.run("openapi --config c.toml").fails(2, &["c.toml"]);
    dir.run("openapi --config .").fails(2, &["cannot read the configuration file ."]);
    dir.run_in(&[("CATALOGUE_CONFIG", "missing.toml")], "openapi").fails(2, &["CATALOGUE_CONFIG: ", "missing.toml"]);
}
