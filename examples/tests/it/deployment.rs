//! The files of `deployment` are taken by the programs that read them. What they bring about is for its drill.

use std::io::{Write, stderr};
use std::path::{Path, PathBuf};
use std::process::Command;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("deployment").join(name)
}

/// Runs a program that checks a file. Where it is missing, a line says so, past the capture of the test's own output.
fn check(program: &str, command: &mut Command) {
    match command.output() {
        Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => stderr().write_all(format!("skipped: {program}: {error}\n").as_bytes()).unwrap(),
    }
}

#[test]
fn bash_reads_its_scripts() {
    for name in ["run", "databases.sh", "servers.sh"] {
        check("bash", Command::new("bash").arg("-n").arg(file(name)));
    }
}

#[test]
fn haproxy_takes_its_configuration() {
    // Debian has it where only an administrator's PATH leads.
    let path = format!("{}:/usr/sbin", std::env::var("PATH").unwrap_or_default());
    check("haproxy", Command::new("haproxy").args(["-c", "-f"]).arg(file("haproxy.cfg")).env("PATH", path));
}
