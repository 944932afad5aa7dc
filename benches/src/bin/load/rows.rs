//! [`Row`]: a comparison of two servers, which is a row of the report.

use std::error::Error;
use std::net::SocketAddr;
use std::path::Path;

use catalogue_benches::{Connection, Data, Owner, Program, Response, course, next_cursor, on_one_processor};

/// Header fields that the constant response copies.
const COPIED_FIELDS: [&str; 4] = ["content-type: ", "cache-control: ", "etag: ", "content-encoding: "];
/// Header that most clients send.
const GZIP: &str = "accept-encoding: gzip, deflate, br\r\n";
pub(crate) const FIRST_PAGE: &str = "/courses?limit=50";

/// Names of the rows that compare the server with the constant handler.
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

/// The servers under test; the row's name selects one.
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

/// A target to measure, and its baseline.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    /// Maximum ratio; NaN without a goal.
    pub(crate) goal: f64,
    pub(crate) measured: Target,
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

/// Returns the named rows, and the constant handler that is their baseline.
pub(crate) fn compare_with_constant(
    names: &[&'static str],
    constant: &Path,
    data: &Data,
    servers: &Servers,
) -> Result<(Option<Program>, Vec<Row>), Box<dyn Error>> {
    let (mut targets, mut files) = (Vec::new(), Vec::new());
    for (number, name) in names.iter().enumerate() {
        let server = servers.of(name);
        let mut target = Target::of(server, requests(name, data, server.addresses()[0])?);
        let mut connection = Connection::open(target.address)?;
        let response = connection.round_trip(&target.requests[0])?;
        target.status = response.status;
        files.push(data.write_file(&format!("response-{number}"), &to_response_file(&response))?);
        targets.push(target);
    }
    if names.is_empty() {
        return Ok((None, Vec::new()));
    }
    let constant = Program::start(on_one_processor(constant).args(&files), files.len())?;
    let mut rows = Vec::new();
    for ((&name, measured), &address) in names.iter().zip(targets).zip(constant.addresses()) {
        let baseline = Target { process: constant.id(), address, ..measured.clone() };
        rows.push(Row { name, goal: goal(name), measured, baseline, with_database: false });
    }
    Ok((Some(constant), rows))
}

/// Returns whether courses change while the row `name` is measured.
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

/// Returns the requests of the row `name` to the server at `address`.
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
            let tag = Connection::open(address)?.round_trip(&owner.request(FIRST_PAGE, ""))?.field("etag")?.to_owned();
            owner.request(FIRST_PAGE, &format!("if-none-match: {tag}\r\n"))
        }
        "hot gzip page" => owner.request(FIRST_PAGE, GZIP),
        _ => owner.request(FIRST_PAGE, ""),
    };
    Ok(vec![request])
}

/// Returns the path of the page of fifty at about 90 % of the list, found page by page.
pub(crate) fn deep_page(address: SocketAddr, owner: &Owner) -> Result<String, Box<dyn Error>> {
    let mut connection = Connection::open(address)?;
    let mut cursor = String::new();
    for _ in 0..owner.courses / 1_000 * 9 {
        let response = connection.round_trip(&owner.request(&format!("/courses?limit=100{cursor}"), ""))?;
        cursor = next_cursor(response.body).ok_or("unexpected end of the list")?;
    }
    Ok(FIRST_PAGE.to_owned() + &cursor)
}

/// Returns a response in the format of the files that handlers read.
pub(crate) fn to_response_file(response: &Response<'_>) -> Vec<u8> {
    let mut lines = response.head.lines();
    let mut text = lines.next().unwrap_or_default().to_owned() + "\r\n";
    for line in lines.filter(|line| COPIED_FIELDS.iter().any(|field| line.starts_with(field))) {
        text += line;
        text += "\r\n";
    }
    [(text + "\r\n").as_bytes(), response.body].concat()
}
