//! [`Work`]: a comparison of two servers.

use std::error::Error;
use std::net::SocketAddr;
use std::path::Path;

use catalogue_benches::{Connection, Data, Owner, Program, Response, course, next_cursor, on_one_processor};

/// Header fields that the constant response copies.
const COPIED_FIELDS: [&str; 4] = ["content-type: ", "cache-control: ", "etag: ", "content-encoding: "];
/// Header that most clients send.
const GZIP: &str = "accept-encoding: gzip, deflate, br\r\n";
pub(crate) const FIRST_PAGE: &str = "/courses?limit=50";

/// Names of the works that are compared with the constant.
pub(crate) const NAMES: [&str; 12] = [
    "hot first page",
    "hot deep page",
    "hot detail",
    "hot /me",
    "hot 304",
    "hot gzip page",
    "all accounts in turn",
    "cold first page",
    "cold deep page",
    "cold detail",
    "hot page under commits",
    "all accounts under commits",
];

/// The servers under test; the work's name selects one.
#[derive(Debug)]
pub(crate) struct Servers {
    pub(crate) hot: Program,
    /// Server without a page cache.
    pub(crate) cold: Program,
}

impl Servers {
    fn of(&self, name: &str) -> &Program {
        if name.starts_with("cold") { &self.cold } else { &self.hot }
    }
}

/// Requests to a server, all with the response status `status`.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) process: u32,
    pub(crate) address: SocketAddr,
    pub(crate) requests: Vec<Vec<u8>>,
    pub(crate) status: u16,
}

/// A target to measure, and the one to compare it with.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    pub(crate) name: &'static str,
    /// Maximum for the multiple; NaN if there is no goal.
    pub(crate) goal: f64,
    pub(crate) this: Target,
    pub(crate) baseline: Target,
    /// Whether the database's time is included.
    pub(crate) with_database: bool,
}

impl Target {
    /// Creates a target of requests that get a 200.
    pub(crate) fn of(server: &Program, requests: Vec<Vec<u8>>) -> Self {
        Self { process: server.id(), address: server.addresses()[0], requests, status: 200 }
    }
}

/// Returns the named works, and starts the constant handler that they are compared with.
pub(crate) fn compare_with_constant(
    names: &[&'static str],
    constant: &Path,
    data: &Data,
    servers: &Servers,
) -> Result<(Option<Program>, Vec<Work>), Box<dyn Error>> {
    let (mut targets, mut files) = (Vec::new(), Vec::new());
    for (number, name) in names.iter().enumerate() {
        let server = servers.of(name);
        let mut target = Target::of(server, requests(name, data, server.addresses()[0])?);
        let mut connection = Connection::open(target.address)?;
        let response = connection.ask(&target.requests[0])?;
        target.status = response.status;
        files.push(data.write_file(&format!("answer-{number}"), &constant_form(&response))?);
        targets.push(target);
    }
    if names.is_empty() {
        return Ok((None, Vec::new()));
    }
    let constant = Program::start(on_one_processor(constant).args(&files), files.len())?;
    let mut works = Vec::new();
    for ((&name, this), &address) in names.iter().zip(targets).zip(constant.addresses()) {
        let baseline = Target { process: constant.id(), address, ..this.clone() };
        works.push(Work { name, goal: goal(name), this, baseline, with_database: false });
    }
    Ok((Some(constant), works))
}

/// Returns whether courses change while the work `name` is measured.
pub(crate) fn is_under_commits(name: &str) -> bool {
    name.ends_with("under commits")
}

fn goal(name: &str) -> f64 {
    match name {
        "cold detail" => 3.0,
        _ if name.starts_with("cold") => 4.5,
        "all accounts in turn" => 1.8,
        _ if is_under_commits(name) => 2.7,
        _ => 1.6,
    }
}

/// Returns the requests of the work `name` to the server at `address`.
fn requests(name: &str, data: &Data, address: SocketAddr) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    let owner = &data.accounts()[0];
    let request = match name {
        _ if name.contains("all accounts") => {
            return Ok(data.accounts().iter().map(|owner| owner.request(FIRST_PAGE, "")).collect());
        }
        "hot deep page" | "cold deep page" => owner.request(&deep_page(address, owner)?, ""),
        "hot detail" | "cold detail" => {
            let slug = course(&owner.account, owner.courses / 2).slug;
            owner.request(&format!("/courses/{slug}"), "")
        }
        "hot /me" => owner.request("/me", ""),
        "hot 304" => {
            let tag = Connection::open(address)?.ask(&owner.request(FIRST_PAGE, ""))?.field("etag")?.to_owned();
            owner.request(FIRST_PAGE, &format!("if-none-match: {tag}\r\n"))
        }
        "hot gzip page" => owner.request(FIRST_PAGE, GZIP),
        _ => owner.request(FIRST_PAGE, ""),
    };
    Ok(vec![request])
}

/// Returns the URL of the page of fifty at 90 % of the list, found page by page.
pub(crate) fn deep_page(address: SocketAddr, owner: &Owner) -> Result<String, Box<dyn Error>> {
    let mut connection = Connection::open(address)?;
    let mut cursor = String::new();
    for _ in 0..owner.courses / 1_000 * 9 {
        let response = connection.ask(&owner.request(&format!("/courses?limit=100{cursor}"), ""))?;
        cursor = next_cursor(response.body).ok_or("the list ends too early")?;
    }
    Ok(FIRST_PAGE.to_owned() + &cursor)
}

/// Returns a response in the format that the constant handler reads.
pub(crate) fn constant_form(response: &Response<'_>) -> Vec<u8> {
    let mut lines = response.head.lines();
    let mut text = lines.next().unwrap_or_default().to_owned() + "\r\n";
    for line in lines.filter(|line| COPIED_FIELDS.iter().any(|field| line.starts_with(field))) {
        text += line;
        text += "\r\n";
    }
    [(text + "\r\n").as_bytes(), response.body].concat()
}
