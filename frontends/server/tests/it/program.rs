//! Helpers that run the program in a temporary directory and send requests to its servers.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// Timeout for a server in tests.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

/// Two accounts with three courses, in the form of an export.
pub(crate) const COURSES: &str = concat!(
    r#"{"type":"account","id":"a","name":"A","email":""}"#,
    "\n",
    r#"{"type":"account","id":"b","name":"","email":"b@example.org"}"#,
    "\n",
    r#"{"type":"course","account":"a","slug":"one","title":"One","tagline":"","language":"en","#,
    r#""createdAt":"2020-01-01T00:00:00Z","publishedAt":null,"hidden":false,"accessMode":null,"#,
    r#""modules":[{"title":"M","summary":"","content":"a body"}]}"#,
    "\n",
    r#"{"type":"course","account":"a","slug":"zwei","title":"Zwei","tagline":"ü","language":"de","#,
    r#""createdAt":"2021-01-01T00:00:00.500Z","publishedAt":"2021-01-02T00:00:00Z","hidden":true,"#,
    r#""accessMode":"free","modules":[]}"#,
    "\n",
    r#"{"type":"course","account":"b","slug":"one","title":"Other","tagline":"","language":"en","#,
    r#""createdAt":"2022-01-01T00:00:00.000001Z","publishedAt":null,"hidden":false,"accessMode":null,"modules":[]}"#,
    "\n",
);

/// Returns import lines of the account `a` with `count` courses, whose only modules have bodies of `size` bytes.
pub(crate) fn many_courses(count: usize, size: usize) -> String {
    let body = "x".repeat(size);
    let module = format!(r#""modules":[{{"title":"M","content":"{body}"}}]"#);
    let course = |number| {
        let fields = format!(r#""account":"a","slug":"c{number:02}","title":"T","language":"en""#);
        format!("{{\"type\":\"course\",{fields},{module}}}\n")
    };
    "{\"type\":\"account\",\"id\":\"a\"}\n".to_owned() + &(0..count).map(course).collect::<String>()
}

/// A temporary working directory for the program, and the database that its commands use by default.
pub(crate) struct TestDir {
    dir: TempDir,
    /// Connection string of the database; empty for the program's default, `sqlite:catalogue.db`.
    pub(crate) address: String,
    /// Path of the program.
    pub(crate) program: PathBuf,
    /// Further environment variables of all commands.
    pub(crate) variables: Vec<(&'static str, &'static str)>,
}

/// Exit status and output of a run.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) status: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl TestDir {
    pub(crate) fn new() -> Self {
        Self::at(tempfile::tempdir().unwrap())
    }

    fn at(dir: TempDir) -> Self {
        let program = env!("CARGO_BIN_EXE_catalogue").into();
        Self { dir, address: String::new(), program, variables: Vec::new() }
    }

    /// Creates a directory in memory if possible, for tests of many commits that a busy disk would slow down.
    pub(crate) fn in_memory() -> Self {
        tempfile::tempdir_in("/dev/shm").map_or_else(|_| Self::new(), Self::at)
    }

    /// Creates a directory with [`COURSES`] in the default database.
    pub(crate) fn with_courses() -> Self {
        let dir = Self::new();
        dir.import(COURSES);
        dir
    }

    pub(crate) fn is_postgres(&self) -> bool {
        self.address.starts_with("postgres")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Copies the program. In this process, another thread could pass the open file to a child, and the copy could not be run.
    #[cfg(unix)]
    pub(crate) fn copy_program(&self, name: &str) -> PathBuf {
        let copy = self.path(name);
        assert!(Command::new("cp").arg(env!("CARGO_BIN_EXE_catalogue")).arg(&copy).status().unwrap().success());
        copy
    }

    /// Renames the database, and waits until every request notices: the program checks once per ms (decision A14).
    pub(crate) fn move_database_away(&self) {
        fs::rename(self.path("catalogue.db"), self.path("gone.db")).unwrap();
        let moved_at = Instant::now();
        while moved_at.elapsed() < Duration::from_millis(1) {
            thread::yield_now();
        }
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path(name), text).unwrap();
    }

    /// Sets the permissions of a file or directory.
    #[cfg(unix)]
    pub(crate) fn set_mode(&self, name: &str, mode: u32) {
        use std::os::unix::fs::PermissionsExt as _;

        fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    /// Returns the names of all files, sorted.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.dir.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Returns the program with `arguments`, separated by single spaces, without `CATALOGUE_` variables of the tests.
    pub(crate) fn command(&self, arguments: &str) -> Command {
        #[cfg(target_os = "linux")]
        crate::inherited_signals::handle();
        let mut command = Command::new(&self.program);
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CATALOGUE_")) {
            command.env_remove(name);
        }
        command.env("RUST_BACKTRACE", "1").envs(self.variables.iter().copied()).current_dir(self.dir.path());
        if !self.address.is_empty() {
            command.env("CATALOGUE_DATABASE", &self.address);
        }
        if self.is_postgres() {
            // Long timeout: if all cores are busy, a database session can wait seconds for one.
            command.env("CATALOGUE_DATABASE_TIMEOUT", "60s");
        }
        command.args(arguments.split(' ').filter(|argument| !argument.is_empty())).stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &str) -> Outcome {
        self.run_in(&[], arguments)
    }

    /// Runs the program with environment variables.
    pub(crate) fn run_in(&self, variables: &[(&str, &str)], arguments: &str) -> Outcome {
        self.command(arguments).envs(variables.iter().copied()).output().unwrap().into()
    }

    /// Runs the program with `input` on standard input.
    pub(crate) fn run_reading(&self, input: impl AsRef<[u8]>, arguments: &str) -> Outcome {
        let mut command = self.command(arguments);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // The write fails if the command exits without reading its input.
        let _ = child.stdin.take().unwrap().write_all(input.as_ref());
        child.wait_with_output().unwrap().into()
    }

    /// Starts a command that reads standard input to its end. Returns when it has read `text`; the input stays open.
    pub(crate) fn start_reading(&self, command: &mut Command, text: &str) -> RunningCommand {
        let mut running = RunningCommand::start(command.stdin(Stdio::piped()));
        // More than the capacity of a pipe and a buffer, so the command has read the text when the write returns.
        let padding = "\n".repeat(1 << 20);
        write!(running.0.as_mut().unwrap().stdin.as_mut().unwrap(), "{text}{padding}").unwrap();
        running
    }

    /// Returns the export of the database.
    pub(crate) fn export(&self) -> String {
        self.run("export").succeeds()
    }

    /// Imports `text` from the file `courses.jsonl` and returns the output.
    pub(crate) fn import(&self, text: &str) -> String {
        self.write("courses.jsonl", text);
        self.run("import courses.jsonl").succeeds()
    }

    /// Creates a key and returns its id and token.
    pub(crate) fn key(&self, account: &str) -> (String, String) {
        let key = self.run(&format!("keys create --account {account} --name n --scope read:courses --json")).json();
        ["id", "token"].map(|field| text(&key, field).to_owned()).into()
    }

    /// Returns the entry of the credential `id` in `keys list`.
    pub(crate) fn listed(&self, id: &str) -> Value {
        let all = self.run("keys list --json").json();
        all.as_array().unwrap().iter().find(|key| key["id"] == id).unwrap_or_else(|| panic!("{id}: {all}")).clone()
    }

    pub(crate) fn serve(&self, arguments: &str) -> Server {
        Server::start(&mut self.command(&format!("serve --listen 127.0.0.1:0 {arguments}")))
    }
}

impl From<Output> for Outcome {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { status: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

impl Outcome {
    /// Asserts success and an empty standard error, and returns standard output.
    pub(crate) fn succeeds(self) -> String {
        assert_eq!((self.status, &*self.err), (Some(0), ""), "{self:?}");
        self.out
    }

    /// Asserts success and parses the output as JSON.
    pub(crate) fn json(self) -> Value {
        serde_json::from_str(&self.succeeds()).unwrap()
    }

    /// Asserts the status, an empty standard output, and a short message on standard error with `pieces`.
    pub(crate) fn fails(self, status: i32, pieces: &[&str]) {
        assert_eq!((self.status, &*self.out), (Some(status), ""), "{self:?}");
        assert!(self.err.starts_with("error: ") && self.err.lines().count() <= 24, "{self:?}");
        assert!(!self.err.contains("backtrace") && !self.err.contains("panicked"), "{self:?}");
        for piece in pieces {
            assert!(self.err.contains(piece), "{piece:?}: {}", self.err);
        }
    }
}

/// Returns the text of a field.
pub(crate) fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_else(|| panic!("{field}: {value}"))
}

/// A running command, killed on drop unless it has finished.
pub(crate) struct RunningCommand(Option<Child>);

impl RunningCommand {
    pub(crate) fn start(command: &mut Command) -> Self {
        Self(Some(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()))
    }

    /// Returns the next line of standard output.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        BufReader::new(self.0.as_mut().unwrap().stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        line
    }

    /// Returns the lines of standard error up to the first that contains `last`.
    pub(crate) fn notes_until(&mut self, last: &str) -> Vec<String> {
        notes_until(BufReader::new(self.0.as_mut().unwrap().stderr.as_mut().unwrap()).lines(), last)
    }

    /// Returns the process ID.
    pub(crate) fn id(&self) -> u32 {
        self.0.as_ref().unwrap().id()
    }

    /// Sends a signal while standard input is open, and waits for the exit.
    #[cfg(unix)]
    pub(crate) fn stop_with(self, signal: &str) -> Outcome {
        let process = self.id();
        self.stop_process(process, signal)
    }

    /// Like [`Self::stop_with`], but sends the signal to `process`.
    #[cfg(unix)]
    pub(crate) fn stop_process(mut self, process: u32, signal: &str) -> Outcome {
        let mut child = self.0.take().unwrap();
        let input = child.stdin.take();
        send_signal(process, signal);
        let outcome = child.wait_with_output().unwrap().into();
        drop(input);
        outcome
    }

    /// Closes standard input and waits for the exit.
    pub(crate) fn finish(mut self) -> Outcome {
        self.0.take().unwrap().wait_with_output().unwrap().into()
    }
}

impl Drop for RunningCommand {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A running server, killed on drop.
pub(crate) struct Server {
    child: Child,
    out: BufReader<ChildStdout>,
    /// Address of the listener, such as `127.0.0.1:40123`.
    pub(crate) address: String,
}

impl Server {
    /// Starts a server, and waits until it listens.
    pub(crate) fn start(command: &mut Command) -> Self {
        Self::start_with(command, |_| {})
    }

    /// Like [`Self::start`], but calls `before_ready` with the process ID before the program is ready.
    pub(crate) fn start_with(command: &mut Command, before_ready: impl FnOnce(u32)) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        before_ready(child.id());
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let address = line.trim_end().strip_prefix("listening on ").and_then(|origin| origin.split_once("://"));
        let address = address.filter(|(scheme, _)| ["http", "https"].contains(scheme)).map(|(_, rest)| rest.to_owned());
        // Created before the panic, which then kills the process by dropping the server.
        let mut server = Self { child, out, address: String::new() };
        server.address = address.unwrap_or_else(|| panic!("{line:?}"));
        server
    }

    /// Returns the lines of standard error, which must be piped, except access lines.
    pub(crate) fn take_notes(&mut self) -> impl Iterator<Item = io::Result<String>> + use<> {
        self.take_log().filter(|line| line.as_ref().map_or(true, |line| !line.contains(" catalogue::access: ")))
    }

    pub(crate) fn take_log(&mut self) -> impl Iterator<Item = io::Result<String>> + use<> {
        BufReader::new(self.child.stderr.take().unwrap()).lines()
    }

    /// Returns the notes up to the first that contains `last`.
    pub(crate) fn notes_until(&mut self, last: &str) -> Vec<String> {
        notes_until(self.take_notes(), last)
    }

    pub(crate) fn get(&self, path: &str, token: &str) -> (u16, Value) {
        get(&self.address, path, token)
    }

    /// Sends a GET request with `further` header fields, and returns the response.
    #[cfg(any(target_os = "linux", feature = "redis"))]
    pub(crate) fn get_head(&self, path: &str, token: &str, further: &str) -> TestResponse {
        let fields = format!("Host: a\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n{further}");
        exchange(&self.address, &format!("GET {path} HTTP/1.1\r\n{fields}\r\n")).unwrap()
    }

    /// Returns the process ID.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: &str) {
        send_signal(self.child.id(), signal);
    }

    /// Waits for the exit, and returns the status.
    pub(crate) fn wait(mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }

    /// Sends a signal, and returns the exit status and the rest of standard output.
    pub(crate) fn stop_with(mut self, signal: &str) -> (Option<i32>, String) {
        self.signal(signal);
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap().code(), rest)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a signal to a process.
pub(crate) fn send_signal(process: u32, signal: &str) {
    let kill = format!("kill -s {signal} {process}");
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
}

/// Returns the lines up to the first that contains `last`.
fn notes_until(lines: impl Iterator<Item = io::Result<String>>, last: &str) -> Vec<String> {
    let mut notes = Vec::new();
    for line in lines {
        notes.push(line.unwrap());
        if notes.last().unwrap().contains(last) {
            return notes;
        }
    }
    panic!("{last:?} is not among {notes:?}");
}

/// Makes `program` run in the directory of `original` with its changes of the environment.
pub(crate) fn copy_context(original: &Command, program: &mut Command) {
    program.current_dir(original.get_current_dir().unwrap());
    for (name, value) in original.get_envs() {
        match value {
            Some(value) => program.env(name, value),
            None => program.env_remove(name),
        };
    }
}

/// A parsed response.
#[derive(Debug)]
pub(crate) struct TestResponse {
    pub(crate) status: u16,
    /// Status line and header fields.
    pub(crate) head: String,
    pub(crate) body: String,
}

impl TestResponse {
    /// Returns the value of a header field.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        let mut fields = self.head.lines().skip(1).filter_map(|line| line.split_once(':'));
        fields.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }
}

/// Reads an HTTP message from a persistent connection. Returns its head and its body, or `None` if the stream ends or fails.
pub(crate) fn read_message(stream: &mut impl BufRead) -> Option<(String, Vec<u8>)> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap_or("0");
    let has_body = !head.starts_with("HTTP/1.1 304 ");
    let mut body = vec![0; if has_body { length.parse().unwrap() } else { 0 }];
    stream.read_exact(&mut body).ok()?;
    Some((head, body))
}

/// Like [`read_message`], but reads a response.
pub(crate) fn read_response(stream: &mut impl BufRead) -> Option<TestResponse> {
    let (head, body) = read_message(stream)?;
    Some(TestResponse { status: head[9..12].parse().unwrap(), head, body: String::from_utf8(body).unwrap() })
}

/// Sends the bytes of `request`, which may be malformed, and reads the response until the server closes the connection.
///
/// # Errors
/// Returns errors of the connection, and an error if the response is incomplete.
pub(crate) fn exchange(address: &str, request: &str) -> io::Result<TestResponse> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(DEADLINE))?;
    stream.write_all(request.as_bytes())?;
    let mut response = String::new();
    stream.read_to_string(&mut response)?;
    let (head, body) = response.split_once("\r\n\r\n").ok_or_else(|| io::Error::other(response.clone()))?;
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Ok(TestResponse { status, head: head.to_owned(), body: body.to_owned() })
}

/// Sends a GET request. Returns the status and the body, which is null if it is not JSON.
pub(crate) fn get(address: &str, path: &str, token: &str) -> (u16, Value) {
    let fields = format!("Host: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close");
    let response = exchange(address, &format!("GET {path} HTTP/1.1\r\n{fields}\r\n\r\n")).unwrap();
    (response.status, serde_json::from_str(&response.body).unwrap_or_default())
}

/// Checks that a program is installed; otherwise returns the reason.
pub(crate) fn is_installed(name: &str) -> Result<(), String> {
    match Command::new(name).arg("--version").output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!("{name} --version: {}", output.status)),
        Err(error) => Err(format!("{name} cannot be run: {error}")),
    }
}
