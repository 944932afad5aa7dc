//! Several servers on one database, behind a proxy that gives each connection to the next of them.

use std::error::Error;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::thread;

use catalogue_benches::{Connection, Program};

use crate::callers::{Callers, FIRST_PAGE, request};
use crate::database::Database;

/// That many servers, each with one thread to serve by, which keep rendered answers as they do by default or keep none.
pub(crate) fn start(
    catalogue: &Path,
    database: &Database,
    number: usize,
    keeping: bool,
) -> Result<Vec<Program>, Box<dyn Error>> {
    let mut arguments = ["serve", "--listen", "127.0.0.1:0", "--database"].map(str::to_owned).to_vec();
    arguments.push(database.url());
    if !keeping {
        arguments.extend(["--page-cache", "0"].map(str::to_owned));
    }
    (0..number).map(|_| Ok(Program::start(catalogue, &arguments, 1)?)).collect()
}

/// Listens before those servers for as long as the program runs, and says where.
pub(crate) fn listen_before(servers: &[Program]) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let servers: Vec<SocketAddr> = servers.iter().map(|server| server.addresses()[0]).collect();
    thread::spawn(move || {
        for (client, &server) in listener.incoming().zip(servers.iter().cycle()) {
            // A client or a server that has gone says so to the other one by the end of its connection.
            let _ = client.and_then(|client| join(client, TcpStream::connect(server)?));
        }
    });
    Ok(address)
}

/// Lets two connections talk to each other until one of them ends.
fn join(client: TcpStream, server: TcpStream) -> io::Result<()> {
    for (mut from, mut to) in [(client.try_clone()?, server.try_clone()?), (server, client)] {
        to.set_nodelay(true)?;
        thread::spawn(move || {
            let _ = io::copy(&mut from, &mut to);
            let _ = to.shutdown(Shutdown::Both);
        });
    }
    Ok(())
}

/// An answer, without what differs from request to request.
#[derive(Debug, PartialEq)]
struct Seen {
    status: u16,
    tag: Option<String>,
    body: Vec<u8>,
}

fn ask(server: &Program, request: &[u8]) -> Result<Seen, Box<dyn Error>> {
    let mut connection = Connection::open(server.addresses()[0])?;
    let answer = connection.ask(request)?;
    Ok(Seen { status: answer.status, tag: answer.field("etag").ok().map(str::to_owned), body: answer.body.to_vec() })
}

/// An error unless each server answers as the first one does, takes the others' tags and cursors, and tells of a change
/// that another writer has made at its next request. Gives how many answers were compared.
pub(crate) fn check_same(servers: &[Program], database: &Database, callers: &Callers) -> Result<usize, Box<dyn Error>> {
    let mut compared = 0;
    for _ in 0..2 {
        let first = ask(&servers[0], &request(&callers.token, FIRST_PAGE, ""))?;
        let known = format!("if-none-match: {}\r\n", first.tag.as_deref().ok_or("a page without a tag")?);
        for (path, token, fields, status) in [
            (FIRST_PAGE, &*callers.token, "", 200),
            (FIRST_PAGE, &callers.token, &*known, 304),
            (&callers.deep_page, &callers.token, "", 200),
            (&callers.detail, &callers.token, "", 200),
            ("/api/v1/me", &callers.token, "", 200),
            ("/api/v1/courses/none", &callers.token, "", 404),
            ("/api/v1/courses?limit=0", &callers.token, "", 400),
            (FIRST_PAGE, "nobody", "", 401),
        ] {
            let request = request(token, path, fields);
            let answers: Vec<_> = servers.iter().map(|server| ask(server, &request)).collect::<Result<_, _>>()?;
            if answers.iter().any(|answer| *answer != answers[0] || answer.status != status) {
                return Err(format!("{path} is answered differently: {answers:?}").into());
            }
            compared += answers.len();
        }
        // As a host would, in plain SQL.
        database.run(
            "UPDATE courses SET title = title || '!' WHERE account_id = 'acc_1' AND created_at = \
                      (SELECT max(created_at) FROM courses WHERE account_id = 'acc_1')",
        )?;
        for server in servers {
            if ask(server, &request(&callers.token, FIRST_PAGE, &known))?.status != 200 {
                return Err("a change is not in the next answer".into());
            }
            compared += 1;
        }
    }
    Ok(compared)
}
