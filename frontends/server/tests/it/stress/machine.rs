//! A full disk, a read-only file system, and exhausted file descriptors.

use std::fs;
use std::net::TcpStream;
use std::process::{Command, Stdio};

use crate::program::{COURSES, Server, TestDir};
use crate::skip::or_skip_unless;

const CREATE: &str = "keys create --account a --name n --scope read:courses";

/// A working directory on a separate file system.
struct Mounted(TestDir);

impl Mounted {
    /// Mounts the file system. Prints a line and returns `None` if the process may not mount.
    fn new(options: &str) -> Option<Self> {
        let dir = TestDir::new();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "none"]).arg(dir.path(""));
        let is_mounted = mount.stderr(Stdio::null()).status().is_ok_and(|status| status.success());
        or_skip_unless(
            "mount",
            is_mounted.then(|| Self(dir)).ok_or_else(|| "not permitted; run this as root".to_owned()),
        )
    }

    fn remount(&self, options: &str) {
        let mut mount = Command::new("mount");
        assert!(mount.args(["-o", &format!("remount,{options}")]).arg(self.0.path("")).status().unwrap().success());
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path("")).status();
    }
}

#[test]
#[ignore = "a stress test"]
fn full_disk_fails_writes_and_reads_continue() {
    let Some(Mounted(dir)) = &Mounted::new("size=4m") else { return };
    dir.import(COURSES);
    let (_, token) = dir.key("a");
    let server = dir.serve("--log off");
    let other = TestDir::new();
    other.write("large.jsonl", COURSES.replace("a body", &"x".repeat(8 << 20)));
    let large = other.path("large.jsonl").display().to_string();
    dir.run(&format!("import {large}")).fails(1, &["the disk is full"]);
    assert_eq!(dir.export(), COURSES);
    // Fills the disk to the last byte.
    let _ = fs::write(dir.path("filler"), vec![0; 8 << 20]);
    dir.run(CREATE).fails(1, &["the disk is full"]);
    dir.run("import courses.jsonl --prune").succeeds();
    assert_eq!(server.get("/api/v1/courses", &token).0, 200);
    fs::remove_file(dir.path("filler")).unwrap();
    dir.run(CREATE).succeeds();
    assert_eq!(server.get("/api/v1/courses", &token).0, 200);
    println!("a full disk: commands report it, reads continue, and writes succeed once there is space");
}

#[test]
#[ignore = "a stress test"]
fn read_only_file_system_is_reported_without_data_loss() {
    let Some(mounted) = &Mounted::new("size=16m") else { return };
    let dir = &mounted.0;
    dir.import(COURSES);
    let (_, token) = dir.key("a");
    mounted.remount("ro");
    // SQLite reads a database in WAL mode only if it can create files next to the database.
    for command in [CREATE, "export", "serve --listen 127.0.0.1:0 --log off --no-migrate"] {
        dir.run(command)
            .fails(1, &["cannot open ", "its file system is read-only; mount it writable, or serve a copy"]);
    }
    mounted.remount("rw");
    assert_eq!(dir.export(), COURSES);
    let server = dir.serve("--log off");
    assert_eq!(server.get("/api/v1/courses", &token).0, 200);
    dir.run(CREATE).succeeds();
}

#[test]
#[ignore = "a stress test"]
fn server_recovers_from_descriptor_exhaustion() {
    let dir = TestDir::with_courses();
    let (_, token) = dir.key("a");
    let serve = dir.command("serve --listen 127.0.0.1:0 --log off");
    let mut limited = Command::new("prlimit");
    limited.args(["--nofile=64:64", "--"]).arg(serve.get_program()).args(serve.get_args());
    limited.current_dir(dir.path(""));
    let server = Server::start(&mut limited);
    assert_eq!(server.get("/api/v1/courses", &token).0, 200);
    for _ in 0..3 {
        // Fewer connections than fit into the accept queue.
        let many: Vec<_> = (0..100).map(|_| TcpStream::connect(&server.address).unwrap()).collect();
        let descriptors = fs::read_dir(format!("/proc/{}/fd", server.id())).unwrap().count();
        drop(many);
        assert_eq!(server.get("/api/v1/courses", &token).0, 200);
        println!("no descriptors: {descriptors} of 64 were open");
    }
    assert_eq!(server.stop_with("TERM").0, Some(0));
}
