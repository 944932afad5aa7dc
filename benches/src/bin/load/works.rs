//! [`Work`]: what is measured, beside what.

use std::error::Error;
use std::net::SocketAddr;
use std::path::Path;

use catalogue_benches::{Answer, Connection, Data, Owner, Program, course, next_cursor, on_one_processor};

/// What of an answer's head the constant has too.
const KEPT_FIELDS: [&str; 4] = ["content-type: ", "cache-control: ", "etag: ", "content-encoding: "];
/// What most clients send.
const GZIP: &str = "accept-encoding: gzip, deflate, br\r\n";
pub(crate) const FIRST_PAGE: &str = "/courses?limit=50";

/// The works that are measured beside the constant.
pub(crate) const NAMES: [&str; 18] = [
    "hot first page",
    "hot deep page",
    "hot detail",
    "hot /me",
    "hot 304",
    "hot gzip page",
    "all accounts in turn",
    "hot first page, no log",
    "hot /me, no log",
    "all accounts in turn, no log",
    "cold first page",
    "cold deep page",
    "cold detail",
    "hot page under commits",
    "all accounts under commits",
    "as many answers: all accounts in turn",
    "as many answers: all accounts in turn, no log",
    "as many answers: all accounts under commits",
];

/// Begins the names of works beside a constant that has an answer of its own for each account.
const AS_MANY: &str = "as many answers: ";

/// The servers that are asked, by the name of the work.
#[derive(Debug)]
pub(crate) struct Servers {
    pub(crate) hot: Vec<Program>,
    /// Without kept answers.
    pub(crate) cold: Vec<Program>,
    /// Without a line of the log for each request.
    pub(crate) unlogged: Vec<Program>,
}

impl Servers {
    fn of(&self, name: &str) -> &[Program] {
        match name {
            _ if name.starts_with("cold") => &self.cold,
            _ if name.ends_with("no log") => &self.unlogged,
            _ => &self.hot,
        }
    }
}

/// Requests to servers that answer alike, each of them with that status.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) processes: Vec<u32>,
    pub(crate) addresses: Vec<SocketAddr>,
    pub(crate) requests: Vec<Vec<u8>>,
    pub(crate) status: u16,
}

/// What is measured, beside what.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    pub(crate) name: &'static str,
    /// What the multiple is to be at most; not a number where the goal is none.
    pub(crate) goal: f64,
    pub(crate) this: Target,
    pub(crate) than: Target,
    /// Whether the database's time counts as well.
    pub(crate) with_database: bool,
}

impl Target {
    /// Requests that are answered with 200.
    pub(crate) fn of(servers: &[Program], requests: Vec<Vec<u8>>) -> Self {
        let processes = servers.iter().map(Program::id).collect();
        let addresses = servers.iter().map(|server| server.addresses()[0]).collect();
        Self { processes, addresses, requests, status: 200 }
    }
}

/// The works of these names beside the constant, which is started for them: one with an answer for each, and one with many.
pub(crate) fn beside_constant(
    names: &[&'static str],
    constant: &Path,
    data: &Data,
    servers: &Servers,
) -> Result<(Vec<Program>, Vec<Work>), Box<dyn Error>> {
    let (many, one): (Vec<_>, Vec<_>) = names.iter().partition(|name| name.starts_with(AS_MANY));
    let (mut constants, mut works) = (Vec::new(), Vec::new());
    for (names, copies) in [(one, 1), (many, data.accounts().len())] {
        if !names.is_empty() {
            let (constant, beside) = beside_copies(&names, copies, constant, data, servers)?;
            constants.push(constant);
            works.extend(beside);
        }
    }
    Ok((constants, works))
}

fn beside_copies(
    names: &[&'static str],
    copies: usize,
    constant: &Path,
    data: &Data,
    servers: &Servers,
) -> Result<(Program, Vec<Work>), Box<dyn Error>> {
    let (mut targets, mut files) = (Vec::new(), Vec::new());
    for (number, name) in names.iter().enumerate() {
        let servers = servers.of(name);
        let mut target = Target::of(servers, requests(name, data, servers[0].addresses()[0])?);
        let mut connection = Connection::open(target.addresses[0])?;
        let answer = connection.ask(&target.requests[0])?;
        target.status = answer.status;
        files.push(data.write_beside(&format!("answer-{copies}-{number}"), &constant_form(&answer))?);
        targets.push(target);
    }
    let copies = format!("--copies={copies}");
    let constant = Program::start(on_one_processor(constant).arg(copies).args(&files), files.len())?;
    let mut works = Vec::new();
    for ((&name, this), &address) in names.iter().zip(targets).zip(constant.addresses()) {
        let than = Target { processes: vec![constant.id()], addresses: vec![address], ..this.clone() };
        let mut connection = Connection::open(address)?;
        let body = connection.ask(&than.requests[0])?.body;
        for &address in &this.addresses {
            if Connection::open(address)?.ask(&this.requests[0])?.body != body {
                return Err(format!("{name}: one of the servers answers other bytes than the constant").into());
            }
        }
        works.push(Work { name, goal: goal(name), this, than, with_database: false });
    }
    Ok((constant, works))
}

/// Requests that visit every account with that path.
pub(crate) fn walk(data: &Data, path: &str, gzip: bool) -> Vec<Vec<u8>> {
    data.accounts().iter().map(|owner| owner.request(path, if gzip { GZIP } else { "" })).collect()
}

/// Whether courses change while the work of that name is measured.
pub(crate) fn is_under_commits(name: &str) -> bool {
    name.ends_with("under commits")
}

fn goal(name: &str) -> f64 {
    match name.trim_start_matches(AS_MANY) {
        "cold detail" => 3.0,
        _ if name.starts_with("cold") => 4.0,
        "all accounts in turn" => 1.6,
        "all accounts in turn, no log" => 1.4,
        _ if name.ends_with("no log") => 1.3,
        _ if is_under_commits(name) => 2.2,
        _ => 1.5,
    }
}

/// What is sent for the work of that name to a server at that address.
fn requests(name: &str, data: &Data, address: SocketAddr) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    let owner = &data.accounts()[0];
    let request = match name {
        _ if name.contains("all accounts") => return Ok(walk(data, FIRST_PAGE, false)),
        "hot deep page" | "cold deep page" => owner.request(&deep_page(address, owner)?, ""),
        "hot detail" | "cold detail" => {
            let slug = course(&owner.account, owner.courses / 2).slug;
            owner.request(&format!("/courses/{slug}"), "")
        }
        "hot /me" | "hot /me, no log" => owner.request("/me", ""),
        "hot 304" => {
            let tag = Connection::open(address)?.ask(&owner.request(FIRST_PAGE, ""))?.field("etag")?.to_owned();
            owner.request(FIRST_PAGE, &format!("if-none-match: {tag}\r\n"))
        }
        "hot gzip page" => owner.request(FIRST_PAGE, GZIP),
        _ => owner.request(FIRST_PAGE, ""),
    };
    Ok(vec![request])
}

/// The address of the page of fifty nine tenths of the way down, found page by page.
pub(crate) fn deep_page(address: SocketAddr, owner: &Owner) -> Result<String, Box<dyn Error>> {
    let mut connection = Connection::open(address)?;
    let mut cursor = String::new();
    for _ in 0..owner.courses / 1_000 * 9 {
        let answer = connection.ask(&owner.request(&format!("/courses?limit=100{cursor}"), ""))?;
        cursor = next_cursor(answer.body).ok_or("the list ends too early")?;
    }
    Ok(FIRST_PAGE.to_owned() + &cursor)
}

/// The answer as the constant handler reads it.
pub(crate) fn constant_form(answer: &Answer<'_>) -> Vec<u8> {
    let mut lines = answer.head.lines();
    let mut text = lines.next().unwrap_or_default().to_owned() + "\r\n";
    for line in lines.filter(|line| KEPT_FIELDS.iter().any(|field| line.starts_with(field))) {
        text += line;
        text += "\r\n";
    }
    [(text + "\r\n").as_bytes(), answer.body].concat()
}
