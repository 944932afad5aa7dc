//! [`Program`]: another program, built by Cargo as a release and ended with its value.

use std::env;
use std::fmt;
use std::io::{self, BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::thread;

/// What a server writes before its address, on a line of its own.
const LISTENING: &str = "listening on http://";
/// What the log of a server has in the line of a request.
const REQUEST: &[u8] = b" catalogue::access: ";
/// The processor that the measured programs run on, and the one for who measures them.
const CORES: [&str; 2] = ["0", "1"];

/// Builds the program `name` of `package` beside the running one and says where it is.
///
/// The package is built by itself, so that it has the features which it is released with and no others'. Where there
/// is no Cargo or no workspace, a program built before is taken.
///
/// # Errors
/// When it cannot be built, or the running program is no release.
pub fn build(package: &str, name: &str) -> io::Result<PathBuf> {
    if cfg!(debug_assertions) {
        return Err(io::Error::other("figures of a debug build mean nothing; run with --release"));
    }
    let this = env::current_exe()?;
    let (Some(release), Some(target)) = (this.parent(), this.parent().and_then(Path::parent)) else {
        return Err(io::Error::other("the running program is in no target directory"));
    };
    let built = release.join(name).with_extension(env::consts::EXE_EXTENSION);
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--release", "--quiet", "--package", package, "--bin", name]);
    match cargo.arg("--target-dir").arg(target).current_dir(workspace).status() {
        Ok(status) if status.success() => Ok(built),
        Ok(status) => Err(io::Error::other(format!("{package} was not built: {status}"))),
        Err(_) if built.exists() => Ok(built),
        Err(error) => Err(io::Error::new(error.kind(), format!("cargo cannot be run: {error}"))),
    }
}

/// A program that serves. It is ended when this value is dropped.
pub struct Program {
    child: Child,
    addresses: Vec<SocketAddr>,
    /// Open as long as the program may write to it.
    _out: BufReader<ChildStdout>,
}

impl Program {
    /// Starts the program at `path`, with one thread to serve by, and waits until it has said on how many addresses it
    /// listens.
    ///
    /// # Errors
    /// When it cannot be started, or ends before.
    pub fn start(path: &Path, arguments: &[String], listeners: usize) -> io::Result<Self> {
        let mut command = pinned(CORES[0], path);
        Self::spawn(command.args(arguments).env("TOKIO_WORKER_THREADS", "1"), listeners)
    }

    /// Starts a command that serves, with as many threads as it takes by itself.
    ///
    /// # Errors
    /// When it cannot be started, or ends before.
    pub fn start_unbound(command: &mut Command) -> io::Result<Self> {
        Self::spawn(command.env_remove("TOKIO_WORKER_THREADS"), 1)
    }

    fn spawn(command: &mut Command, listeners: usize) -> io::Result<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        for (name, _) in env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CATALOGUE_")) {
            command.env_remove(name);
        }
        let mut child = command.spawn()?;
        if let Some(notes) = child.stderr.take() {
            thread::spawn(|| pass_on(notes));
        }
        let out = child.stdout.take().map(BufReader::new);
        let out = out.ok_or_else(|| io::Error::other("the program has no standard output"))?;
        // Made first, so that the program ends with a failure as well.
        let mut program = Self { child, addresses: Vec::new(), _out: out };
        while program.addresses.len() < listeners {
            let mut line = String::new();
            program._out.read_line(&mut line)?;
            let address = line.trim_end().strip_prefix(LISTENING).and_then(|address| address.parse().ok());
            let address = address
                .ok_or_else(|| io::Error::other(format!("{command:?} did not say where it listens but {line:?}")))?;
            program.addresses.push(address);
        }
        Ok(program)
    }

    /// Where it listens, in the order in which it said so.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// The process's id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").field("id", &self.id()).field("addresses", &self.addresses).finish_non_exhaustive()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Shows what a program notes, without the lines of its requests: it writes them as it does for its users.
fn pass_on(notes: ChildStderr) {
    let lines = BufReader::new(notes).split(b'\n').map_while(Result::ok);
    let of_request = |line: &[u8]| line.windows(REQUEST.len()).any(|piece| piece == REQUEST);
    for line in lines.filter(|line| !of_request(line)) {
        let _ = io::stderr().write_all(&[line, b"\n".to_vec()].concat());
    }
}

/// Keeps the running program off the processor that the measured ones run on, where the system lets it.
pub fn pin_this_process() {
    let id = std::process::id().to_string();
    let _ = silent(Command::new("taskset").args(["-a", "-c", "-p", CORES[1], &id]));
}

/// A command that runs on that processor alone, where the system lets it.
fn pinned(core: &str, path: &Path) -> Command {
    if !silent(Command::new("taskset").args(["-c", core, "true"])) {
        return Command::new(path);
    }
    let mut command = Command::new("taskset");
    command.args(["-c", core]).arg(path);
    command
}

/// Whether a command succeeds, with nothing to say.
fn silent(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}
