//! A private PostgreSQL for the tests of one process: in a temporary directory, on a Unix socket, removed at the end.
//!
//! If PostgreSQL is not installed, [`Cluster::shared`] prints a line, or panics if `CATALOGUE_TEST_REQUIRE` names `postgres`.

#![expect(clippy::missing_errors_doc, clippy::missing_panics_doc, reason = "only tests and benchmarks use it")]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write, stderr};
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;

/// Puts the folder of `initdb` (in the `PATH`, or Debian's newest) first, because the `PATH` may link to only some programs.
const PROGRAMS: &str = r#"
    for found in $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -rV); do PATH="$PATH:$found"; done
    initdb=$(command -v initdb) || { echo "not installed" >&2; exit 1; }
    PATH="$(dirname "$(readlink -f "$initdb")"):$PATH"
"#;

/// Creates a cluster in the folder `$1`; with `$2`, a standby of the cluster in the directory `$2`. Prints the new directory,
/// waits until standard input ends, as it does when the parent process ends, and removes the cluster.
const SCRIPT: &str = r#"
    trap '' INT HUP TERM
    directory=$(mktemp -d "$1/catalogue-postgres.XXXXXX") || exit 1
    cd "$directory" || exit 1
    init() { initdb -D data -U postgres -A trust -E UTF8 --no-sync "$@" >log 2>&1; }
    # A collation that does not order texts by their bytes, if PostgreSQL was built with ICU.
    make() { init --locale=C.UTF-8 --locale-provider=icu --icu-locale=en-US || init --locale=C.UTF-8; }
    copy() { pg_basebackup -h "$1" -p "$(ls -A "$1" | sed -n 's/^\.s\.PGSQL\.\([0-9]*\)$/\1/p')" -U postgres -D data -R -X stream -c fast --no-sync >log 2>&1; }
    if if [ -n "$2" ]; then copy "$2"; else make; fi &&
        printf '%s\n' "unix_socket_directories = '$directory'" "listen_addresses = ''" "port = 5432" \
            "max_connections = 300" "fsync = off" "synchronous_commit = off" >>data/postgresql.auto.conf &&
        pg_ctl -D data -w -l log start >>log 2>&1
    then
        echo "$directory"
        cat >/dev/null
        pg_ctl -D data -m immediate stop >>log 2>&1
    else
        tail -n 5 log | tr '\n' ' ' >&2
    fi
    cd / && rm -rf "$directory"
"#;

/// A running PostgreSQL server.
#[derive(Debug)]
pub struct Cluster {
    /// Directory with its socket.
    pub directory: PathBuf,
    /// Folder of its programs, unless they are the default ones.
    programs: Option<PathBuf>,
    _watchdog: Child,
}

impl Cluster {
    /// Returns the cluster that the tests of this process share; `None` if PostgreSQL is missing and not required.
    pub fn shared() -> Option<&'static Self> {
        static SHARED: LazyLock<Option<Cluster>> = LazyLock::new(|| ok_or_skip(Cluster::start()));
        SHARED.as_ref()
    }

    /// Starts a cluster for one test.
    pub fn start() -> Result<Self, String> {
        Self::start_in(&default_folder())
    }

    /// Like [`start`](Self::start), in a new directory in `folder`, which must be writable for every user.
    pub fn start_in(folder: &Path) -> Result<Self, String> {
        Self::start_cluster(None, folder, "")
    }

    /// Like [`start`](Self::start), with the programs in the folder `programs`.
    pub fn start_with_programs(programs: &Path) -> Result<Self, String> {
        Self::start_cluster(Some(programs), &default_folder(), "")
    }

    /// Starts a standby of this cluster, which follows it by streaming replication.
    pub fn standby(&self) -> Result<Self, String> {
        Self::start_cluster(self.programs.as_deref(), &default_folder(), &self.directory.display().to_string())
    }

    fn start_cluster(programs: Option<&Path>, folder: &Path, primary: &str) -> Result<Self, String> {
        let mut command = shell_command(programs, &format!("{PROGRAMS}{SCRIPT}"));
        command.arg(folder).arg(primary);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut watchdog = command.spawn().map_err(|error| format!("cannot run the watchdog: {error}"))?;
        let mut directory = String::new();
        let output = watchdog.stdout.take().expect("standard output is piped");
        BufReader::new(output).read_line(&mut directory).map_err(|error| error.to_string())?;
        if directory.is_empty() {
            let mut error_output = String::new();
            let _ = watchdog.stderr.take().expect("standard error is piped").read_to_string(&mut error_output);
            let _ = watchdog.wait();
            return Err(format!("cannot start: {error_output}"));
        }
        let programs = programs.map(Path::to_owned);
        Ok(Self { directory: PathBuf::from(directory.trim_end()), programs, _watchdog: watchdog })
    }

    /// Runs `pg_ctl` with `action` and waits for it to finish.
    pub fn control(&self, action: &[&str]) {
        let mut command =
            shell_command(self.programs.as_deref(), &format!("{PROGRAMS} exec pg_ctl -D data -l log -w \"$@\""));
        let status = command.args(action).current_dir(&self.directory).stdout(Stdio::null()).status();
        assert!(status.unwrap().success(), "{action:?}");
    }

    /// Kills the server's main process, as a crash would.
    pub fn kill(&self) {
        self.shell("kill -9 $(head -n 1 data/postmaster.pid)");
    }

    /// Makes the server listen on a loopback port too, adds `settings`, and restarts it. Returns the port.
    #[must_use]
    pub fn listen(&self, settings: &[&str]) -> u16 {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        self.configure(&["listen_addresses = '127.0.0.1'", &format!("port = {port}")]);
        self.configure(settings);
        self.control(&["restart"]);
        port
    }

    /// Makes this server a standby of `primary` from its next start on. It must have stopped before `primary` was promoted.
    pub fn follow(&self, primary: &Self) {
        self.configure(&[&format!("primary_conninfo = 'host={} user=postgres'", primary.directory.display())]);
        self.shell("touch data/standby.signal");
    }

    /// Appends to the configuration, which the server reads when it starts, and in part at `reload`.
    pub fn configure(&self, settings: &[&str]) {
        self.write("data/postgresql.auto.conf", format!("{}\n", settings.join("\n")).as_bytes());
    }

    /// Appends to a file in the cluster's directory. If the file is new, only PostgreSQL's user can read it.
    pub fn write(&self, file: &str, contents: &[u8]) {
        let mut command = shell_command(None, "umask 077; cat >>\"$1\"");
        let mut child = command.arg(file).current_dir(&self.directory).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().expect("standard input is piped").write_all(contents).unwrap();
        assert!(child.wait().unwrap().success(), "{file}");
    }

    fn shell(&self, text: &str) {
        assert!(shell_command(None, text).current_dir(&self.directory).status().unwrap().success(), "{text}");
    }

    /// Returns the connection string of `database` with this cluster and `others` as its hosts.
    #[must_use]
    pub fn address_with(&self, others: &[&Self], database: &str) -> String {
        let hosts: Vec<_> = [self].iter().chain(others).map(|one| one.directory.display().to_string()).collect();
        format!("host={} user=postgres dbname={database}", hosts.join(","))
    }

    /// Returns the connection string of `database` on this cluster.
    #[must_use]
    pub fn address(&self, database: &str) -> String {
        self.address_with(&[], database)
    }
}

/// Returns a shell that runs `text` and finds programs in the folder `programs` first. If this process runs as root, the shell
/// has another user: PostgreSQL refuses root.
fn shell_command(programs: Option<&Path>, text: &str) -> Command {
    let mut command = Command::new("env");
    if let Some(programs) = programs {
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", programs.display()));
    }
    if fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0) {
        let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let user = if users.lines().any(|line| line.starts_with("postgres:")) { "postgres" } else { "nobody" };
        command.args(["setpriv", "--reuid", user, "--regid", "nogroup", "--clear-groups", "--"]);
    }
    command.args(["sh", "-c", text, "sh"]);
    command
}

fn default_folder() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    if memory.is_dir() { memory } else { std::env::temp_dir() }
}

/// Returns the value of `ready`. If there is none, prints the reason, or panics if `CATALOGUE_TEST_REQUIRE` names PostgreSQL.
fn ok_or_skip<T>(ready: Result<T, String>) -> Option<T> {
    let Err(reason) = ready else { return ready.ok() };
    let required = std::env::var("CATALOGUE_TEST_REQUIRE").unwrap_or_default();
    assert!(!required.split(',').any(|name| name.trim() == "postgres"), "PostgreSQL is required: {reason}");
    // Bypasses the capture of test output, so that the line is visible.
    stderr().write_all(format!("skipped: PostgreSQL: {reason}\n").as_bytes()).unwrap();
    None
}
