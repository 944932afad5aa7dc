//! Pages on PostgreSQL, compared with an axum handler that runs one prepared statement and returns the same bytes.

use std::error::Error;
use std::path::Path;

use catalogue_benches::{Connection, Data, Program, on_one_processor};

use crate::rows::{FIRST_PAGE, Row, Servers, Target, to_response_file};

/// Names of the rows whose baseline runs one statement.
pub(crate) const NAMES: [&str; 2] = ["statement: hot first page, one lookup", "statement: cold first page, its rows"];

/// The server's statements: for a cached response (here with the digest as a text), and for the rows of a page.
const STATEMENTS: [&str; 2] = [
    "SELECT c.account_id, c.kind, c.id, c.scopes, c.digest, c.expires_at, c.revoked_at, a.revision \
     FROM credentials AS c JOIN accounts AS a ON a.id = c.account_id WHERE c.digest = CAST(CAST($1 AS TEXT) AS BYTEA)",
    "SELECT slug, title, language, published_at, hidden, module_count, created_at, \
     (SELECT revision FROM accounts WHERE id = $1) FROM courses \
     WHERE account_id = $1 ORDER BY created_at DESC, slug DESC LIMIT $2",
];

/// Returns the named rows, with the handlers that they need.
pub(crate) fn rows(
    names: &[&'static str],
    handler: &Path,
    data: &Data,
    servers: &Servers,
) -> Result<(Vec<Program>, Vec<Row>), Box<dyn Error>> {
    let (mut handlers, mut rows) = (Vec::new(), Vec::new());
    let owner = &data.accounts()[0];
    let digest = owner.token.digest().as_bytes().iter().fold("\\x".to_owned(), |hex, byte| format!("{hex}{byte:02x}"));
    for &name in names {
        let is_hot = name == NAMES[0];
        let measured =
            Target::of(if is_hot { &servers.hot } else { &servers.cold }, vec![owner.request(FIRST_PAGE, "")]);
        let mut connection = Connection::open(measured.address)?;
        let file = data.write_file("statement", &to_response_file(&connection.round_trip(&measured.requests[0])?))?;
        let (statement, text) =
            if is_hot { (STATEMENTS[0], &*digest) } else { (STATEMENTS[1], owner.account.as_str()) };
        let mut command = on_one_processor(handler);
        command.args(["--database", &data.address(), "--statement", statement, "--text", text, &file]);
        let handler = Program::start(&mut command, 1)?;
        let baseline = Target { process: handler.id(), address: handler.addresses()[0], ..measured.clone() };
        handlers.push(handler);
        rows.push(Row { name, goal: if is_hot { 1.3 } else { 1.7 }, measured, baseline, with_database: false });
    }
    Ok((handlers, rows))
}
