//! Commands of the example's README, run as pasted.
//!
//! If `sqlite3` or `psql` is not installed, its test prints a line and passes, unless `CATALOGUE_TEST_REQUIRE` names it.

use std::path::Path;
use std::process::Command;

use catalogue_postgres_cluster::Cluster;

use crate::postgres::fixture::Session;
use crate::program::{TestDir, is_installed};
use crate::skip::or_skip_unless;

const README: &str = include_str!("../../../../../examples/own_tables/README.md");

/// Runs a block of commands with a free port in a new directory.
/// Returns the output, or `None` if `tool` is missing and not required.
fn pasted(block: usize, tool: &str, host: &Path) -> Option<String> {
    or_skip_unless(tool, is_installed(tool))?;
    let lines = README.split("```sh\n").nth(block).unwrap().split("```").next().unwrap();
    assert_eq!(lines.lines().count(), 10);
    // The server listens on a free port and prints its address.
    let lines = lines
        .replace(
            "catalogue serve &",
            "coproc catalogue serve --listen 127.0.0.1:0 --log off; read -r -u \"${COPROC[0]}\" at",
        )
        .replace("http://127.0.0.1:8080", "\"${at#listening on }\"");
    let dir = TestDir::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let bin = Path::new(env!("CARGO_BIN_EXE_catalogue")).parent().unwrap().to_owned();
    let path = std::env::join_paths([bin].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())));
    let script = format!("ln -s '{}/examples' .\n{lines}\nkill \"$COPROC_PID\"", root.display());
    let mut bash = Command::new("bash");
    bash.args(["-euc", &script]).current_dir(dir.path(".")).env("PATH", path.unwrap());
    for name in ["CATALOGUE_DATABASE", "CATALOGUE_CONFIG", "PGUSER", "PGDATABASE", "PGPORT"] {
        bash.env_remove(name);
    }
    let output = bash.env("PGHOST", host).env("PGUSER", "postgres").env("USER", "postgres").output().unwrap();
    let message = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{message}{}", String::from_utf8_lossy(&output.stderr));
    Some(message)
}

const PAGE: &str = concat!(
    r#"{"data":[{"slug":"sailing","title":"Sailing","language":"en","publishedAt":null,"hidden":false,"moduleCount":COUNT},"#,
    r#"{"slug":"rowing","title":"Rowing","language":"en","publishedAt":"2025-03-01T08:00:00.250Z","hidden":true,"moduleCount":0},"#,
    r#"{"slug":"knots","title":"Knots","language":"en","publishedAt":"2025-03-01T08:00:00.000Z","hidden":false,"moduleCount":2}],"#,
    r#""meta":{"nextCursor":null}}"#
);

#[test]
fn sqlite_commands_work_as_pasted() {
    let Some(message) = pasted(1, "sqlite3", Path::new("")) else { return };
    assert!(message.ends_with(&PAGE.replace("COUNT", "1")), "{message}");
}

#[test]
fn postgresql_commands_work_as_pasted() {
    let Some(cluster) = Cluster::shared() else { return };
    Session::of(&cluster.address("postgres")).run("DROP DATABASE IF EXISTS school");
    let Some(message) = pasted(2, "psql", &cluster.directory) else { return };
    assert!(message.ends_with(&PAGE.replace("COUNT", "2")), "{message}");
}
