//! bash accepts scripts of `deployment`, and haproxy its configuration. `deployment/run drill` tests their effects.
//!
//! If haproxy is not installed, its test is skipped with a message, unless `CATALOGUE_TEST_REQUIRE` names `haproxy`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::skip::or_skip_unless;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("deployment").join(name)
}

#[track_caller]
fn assert_accepted(output: &Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn bash_accepts_the_scripts() {
    for name in ["run", "databases.sh", "servers.sh", "drill.sh"] {
        assert_accepted(&Command::new("bash").arg("-n").arg(file(name)).output().unwrap());
    }
}

#[test]
fn haproxy_accepts_its_configuration() {
    // Debian installs haproxy in a folder that is only on the PATH of administrators.
    let path = format!("{}:/usr/sbin", std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new("haproxy");
    let output = command.args(["-c", "-f"]).arg(file("haproxy.cfg")).env("PATH", path).output();
    let Some(output) = or_skip_unless("haproxy", output.map_err(|error| error.to_string())) else { return };
    assert_accepted(&output);
}

#[test]
fn invalid_arguments_print_usage() {
    for arguments in [&["nonsense"][..], &["restart"], &["failover", "a", "b"]] {
        let output = Command::new("bash").arg(file("run")).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8(output.stderr).unwrap().starts_with("usage: "), "{arguments:?}");
    }
}
