//! [`Sql`]: another process that writes in plain SQL, independent of the program.

use std::env;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, Command, Stdio};
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::types::ValueRef;

/// Environment variable with the path of the database, for the other process.
const DATABASE: &str = "TEST_SQL_DATABASE";
/// Environment variable with the locking mode of the other process.
const LOCKING_MODE: &str = "TEST_SQL_LOCKING_MODE";

/// A process with a connection to a database. It runs each line as a statement and reports the result.
pub(crate) struct Sql {
    child: Child,
    statements: ChildStdin,
    results: BufReader<ChildStderr>,
}

impl Sql {
    pub(crate) fn open(database: &Path) -> Self {
        Self::start(database, "normal")
    }

    /// Opens the database in a process that keeps its locks until it closes it, and has the WAL index in its own memory.
    pub(crate) fn open_exclusively(database: &Path) -> Self {
        Self::start(database, "exclusive")
    }

    fn start(database: &Path, locking_mode: &str) -> Self {
        // Runs this test program with only the test `process`. Results use standard error: the test runner writes to standard output.
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", "never_stale::sql::process", "--ignored"]);
        command.env(DATABASE, database).env(LOCKING_MODE, locking_mode);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let statements = child.stdin.take().unwrap();
        let results = BufReader::new(child.stderr.take().unwrap());
        Self { child, statements, results }
    }

    /// Runs a statement and returns the values of all rows.
    #[track_caller]
    pub(crate) fn run(&mut self, sql: &str) -> String {
        self.send(sql);
        self.result().unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    /// Sends a statement without waiting for its result.
    pub(crate) fn send(&mut self, sql: &str) {
        writeln!(self.statements, "{sql}").unwrap();
    }

    /// Waits for the next result, in the order of the statements sent.
    pub(crate) fn result(&mut self) -> Result<String, String> {
        let mut line = String::new();
        self.results.read_line(&mut line).unwrap();
        match line.trim_end_matches('\n').split_once(' ') {
            Some(("done", values)) => Ok(values.to_owned()),
            _ => Err(line),
        }
    }

    /// Runs statements, closes the connection and ends the process.
    #[track_caller]
    pub(crate) fn run_and_close(mut self, statements: &[&str]) {
        statements.iter().for_each(|statement| drop(self.run(statement)));
        self.close();
    }

    /// Closes the connection and ends the process.
    pub(crate) fn close(mut self) {
        self.send("end");
        assert!(self.child.wait().unwrap().success());
    }

    /// Kills the process by SIGKILL, whatever it is doing.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Sql {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Main function of the other process.
#[test]
#[ignore = "the process that other tests write with"]
fn process() {
    let Some(database) = env::var_os(DATABASE) else { return };
    let connection = Connection::open(database).unwrap();
    // First: after a read of the file, SQLite would share the WAL index even in exclusive mode.
    let locking_mode = env::var(LOCKING_MODE).unwrap();
    connection.pragma_update_and_check(None, "locking_mode", locking_mode, |_| Ok(())).unwrap();
    // A slow disk must not fail a test, and nothing needs to survive a power failure.
    connection.busy_timeout(Duration::from_secs(120)).unwrap();
    connection.pragma_update(None, "synchronous", "off").unwrap();
    for statement in io::stdin().lines().map(Result::unwrap).take_while(|line| line != "end") {
        let line = match values(&connection, &statement) {
            Ok(values) => format!("done {values}\n"),
            Err(error) => format!("failed {error}\n"),
        };
        io::stderr().write_all(line.as_bytes()).unwrap();
    }
}

fn values(connection: &Connection, sql: &str) -> rusqlite::Result<String> {
    let mut statement = connection.prepare(sql)?;
    let columns = statement.column_count();
    let mut rows = statement.query([])?;
    let mut values = Vec::new();
    while let Some(row) = rows.next()? {
        for column in 0..columns {
            values.push(match row.get_ref(column)? {
                ValueRef::Integer(number) => number.to_string(),
                value => value.as_str().unwrap_or_default().to_owned(),
            });
        }
    }
    Ok(values.join(" "))
}
