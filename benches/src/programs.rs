//! [`Program`]: another program, built by Cargo in release mode and ended on drop.

use std::env;
use std::io::{self, BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::thread;

/// Text that identifies a request line in a server's log.
const REQUEST: &[u8] = b" catalogue::access: ";

/// Builds the program `name` of `package` into the directory of the running one and returns its path.
///
/// The package is built separately, so that no other package of the workspace enables features in it. Without Cargo or a
/// workspace, an existing build is used.
pub fn build(package: &str, name: &str) -> io::Result<PathBuf> {
    if cfg!(debug_assertions) {
        return Err(io::Error::other("debug builds are not comparable; run with --release"));
    }
    let this = env::current_exe()?;
    let (Some(release), Some(target)) = (this.parent(), this.parent().and_then(Path::parent)) else {
        return Err(io::Error::other("the program is not in a target directory"));
    };
    let built = release.join(name).with_extension(env::consts::EXE_EXTENSION);
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--release", "--quiet", "--package", package, "--bin", name]);
    match cargo.arg("--target-dir").arg(target).current_dir(workspace).status() {
        Ok(status) if status.success() => Ok(built),
        Ok(status) => Err(io::Error::other(format!("cannot build {package}: {status}"))),
        Err(_) if built.exists() => Ok(built),
        Err(error) => Err(io::Error::new(error.kind(), format!("cannot run cargo: {error}"))),
    }
}

/// A running server. Dropping it stops the server.
#[derive(Debug)]
pub struct Program {
    child: Child,
    addresses: Vec<SocketAddr>,
    /// Must stay open while the program may write to it.
    out: BufReader<ChildStdout>,
}

impl Program {
    /// Starts a server, and waits until it has printed the addresses of all `listeners`, one per line.
    pub fn start(command: &mut Command, listeners: usize) -> io::Result<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        for (name, _) in env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CATALOGUE_")) {
            command.env_remove(name);
        }
        let spawned = command.spawn();
        let failed = |reason| io::Error::other(format!("{}: {reason}", command.get_program().display()));
        let mut child = spawned.map_err(|error| failed(format!("cannot run: {error}")))?;
        let (Some(out), Some(log)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(failed("no output".to_owned()));
        };
        thread::spawn(|| print_log(log));
        let mut program = Self { child, addresses: Vec::new(), out: BufReader::new(out) };
        while program.addresses.len() < listeners {
            let mut line = String::new();
            program.out.read_line(&mut line)?;
            let url = line.trim_end().strip_prefix("listening on ");
            let address = url.and_then(|url| url.split_once("://")?.1.parse().ok());
            program.addresses.push(address.ok_or_else(|| failed(format!("printed {line:?} instead of its address")))?);
        }
        Ok(program)
    }

    /// Returns the addresses that it listens on, in the order in which it printed them.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Returns the process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Program {
    /// Sends SIGTERM, so that a build with profiling writes its profile; twice, so that it does not wait for clients.
    fn drop(&mut self) {
        let id = self.child.id().to_string();
        let terminate = || silent(Command::new("sh").args(["-c", "kill \"$0\"", &id]));
        if !(terminate() && terminate()) {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

/// Prints a server's log except its request lines. The server writes these too, so that their cost is measured.
fn print_log(log: ChildStderr) {
    let lines = BufReader::new(log).split(b'\n').map_while(Result::ok);
    let is_request = |line: &[u8]| line.windows(REQUEST.len()).any(|piece| piece == REQUEST);
    for line in lines.filter(|line| !is_request(line)) {
        let _ = io::stderr().write_all(&[line, b"\n".to_vec()].concat());
    }
}

/// Moves this process to another processor than that of the measured programs, if `taskset` exists.
pub fn pin_this_process() {
    let id = std::process::id().to_string();
    let _ = silent(Command::new("taskset").args(["-a", "-c", "-p", "1", &id]));
}

/// Returns a command with one thread for serving, on a separate processor if `taskset` exists.
pub fn on_one_processor(path: &Path) -> Command {
    let mut command = Command::new(path);
    if silent(Command::new("taskset").args(["-c", "0", "true"])) {
        command = Command::new("taskset");
        command.args(["-c", "0"]).arg(path);
    }
    command.env("TOKIO_WORKER_THREADS", "1");
    command
}

/// Returns whether a command succeeds, and discards its output.
fn silent(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}
