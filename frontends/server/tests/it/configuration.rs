//! Layers of settings: the command line overrides the environment, which overrides the file.

use crate::program::TestDir;

/// The server's URL in the OpenAPI document shows which layer has set it.
#[test]
fn command_line_overrides_environment_and_file() {
    let dir = TestDir::new();
    dir.write("c.toml", "base-url = \"https://file.example/api/v1\"\n");
    let variable = ("CATALOGUE_BASE_URL", "https://env.example/api/v1");
    let named = ("CATALOGUE_CONFIG", "c.toml");
    for (variables, arguments, expected) in [
        (&[][..], "", "/api/v1"),
        (&[named], "", "https://file.example/api/v1"),
        (&[("CATALOGUE_CONFIG", "missing.toml")], "--config c.toml", "https://file.example/api/v1"),
        (&[variable, named], "", "https://env.example/api/v1"),
        (&[variable, named], "--base-url https://line.example/api/v1", "https://line.example/api/v1"),
    ] {
        let document = dir.run_in(variables, &format!("openapi {arguments}")).json();
        assert_eq!(document["servers"][0]["url"], expected, "{variables:?} {arguments}");
    }
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
