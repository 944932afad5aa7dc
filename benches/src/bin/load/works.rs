//! [`Work`]: what is measured, beside what.

use std::error::Error;
use std::net::SocketAddr;
use std::path::Path;

use catalogue_benches::{Answer, Connection, Data, Owner, Program, course};

/// What of an answer's head the constant has too.
const KEPT_FIELDS: [&str; 4] = ["content-type: ", "cache-control: ", "etag: ", "content-encoding: "];
/// What most clients send.
const GZIP: &str = "accept-encoding: gzip, deflate, br\r\n";

/// Requests to a server, each of which it answers with that status.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) process: u32,
    pub(crate) address: SocketAddr,
    pub(crate) requests: Vec<Vec<u8>>,
    pub(crate) status: u16,
}

/// What is measured, beside what.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    pub(crate) name: &'static str,
    /// What the multiple is to be at most.
    pub(crate) goal: f64,
    pub(crate) this: Target,
    pub(crate) than: Target,
    /// Whether courses change meanwhile.
    pub(crate) under_commits: bool,
}

/// The requests and their status before they have a server.
struct Plan {
    name: &'static str,
    goal: f64,
    requests: Vec<Vec<u8>>,
    cold: bool,
    under_commits: bool,
}

/// The works that are measured beside the constant, which is started for them.
pub(crate) fn beside_constant(
    constant: &Path,
    data: &Data,
    hot: &Program,
    cold: &Program,
) -> Result<(Program, Vec<Work>), Box<dyn Error>> {
    let owner = &data.accounts()[0];
    let deep = deep_page(hot.addresses()[0], owner)?;
    let plans = plans(data, owner, hot.addresses()[0], &deep)?;
    let (mut files, mut statuses) = (Vec::new(), Vec::new());
    let mut connection = Connection::open(hot.addresses()[0])?;
    for (number, plan) in plans.iter().enumerate() {
        let answer = connection.ask(&plan.requests[0])?;
        files.push(data.write_beside(&format!("answer-{number}"), &constant_form(&answer))?);
        statuses.push(answer.status);
    }
    let constant = Program::start(constant, &files, files.len())?;
    let mut works = Vec::new();
    for ((plan, &status), &address) in plans.into_iter().zip(&statuses).zip(constant.addresses()) {
        let program = if plan.cold { cold } else { hot };
        let target = |program: &Program, address| Target {
            process: program.id(),
            address,
            requests: plan.requests.clone(),
            status,
        };
        let (this, than) = (target(program, program.addresses()[0]), target(&constant, address));
        let (mut ours, mut theirs) = (Connection::open(this.address)?, Connection::open(than.address)?);
        if ours.ask(&this.requests[0])?.body != theirs.ask(&than.requests[0])?.body {
            return Err(format!("{}: the constant answers other bytes", plan.name).into());
        }
        works.push(Work { name: plan.name, goal: plan.goal, this, than, under_commits: plan.under_commits });
    }
    Ok((constant, works))
}

/// A page of a long list beside one of a short list, both rendered anew.
pub(crate) fn long_beside_short(
    (long, long_data): (&Program, &Data),
    (short, short_data): (&Program, &Data),
) -> Result<Vec<Work>, Box<dyn Error>> {
    let target = |program: &Program, data: &Data, deep: bool| -> Result<Target, Box<dyn Error>> {
        let (address, owner) = (program.addresses()[0], &data.accounts()[0]);
        let path = if deep { deep_page(address, owner)? } else { "/courses?limit=50".to_owned() };
        Ok(Target { process: program.id(), address, requests: vec![request(owner, &path, "")], status: 200 })
    };
    let work = |name, deep| -> Result<Work, Box<dyn Error>> {
        let (this, than) = (target(long, long_data, deep)?, target(short, short_data, deep)?);
        Ok(Work { name, goal: 1.1, this, than, under_commits: false })
    };
    Ok(vec![work("first page of 10^6 beside 10^3", false)?, work("deep page of 10^6 beside 10^3", true)?])
}

/// Requests that visit every account with that path.
pub(crate) fn walk(data: &Data, path: &str, gzip: bool) -> Vec<Vec<u8>> {
    data.accounts().iter().map(|owner| request(owner, path, if gzip { GZIP } else { "" })).collect()
}

fn plans(data: &Data, owner: &Owner, hot: SocketAddr, deep: &str) -> Result<Vec<Plan>, Box<dyn Error>> {
    let first = "/courses?limit=50";
    let detail = format!("/courses/{}", course(&owner.account, owner.courses / 2).slug);
    let tag = Connection::open(hot)?.ask(&request(owner, first, ""))?.field("etag")?.to_owned();
    let of_first = |path: &str, fields: &str| vec![request(owner, path, fields)];
    let hot = |name, requests| Plan { name, goal: 1.5, requests, cold: false, under_commits: false };
    let cold = |name, requests| Plan { name, goal: 4.5, requests, cold: true, under_commits: false };
    let changing = |name, requests| Plan { name, goal: 2.2, requests, cold: false, under_commits: true };
    Ok(vec![
        hot("hot first page", of_first(first, "")),
        hot("hot deep page", of_first(deep, "")),
        hot("hot detail", of_first(&detail, "")),
        hot("hot /me", of_first("/me", "")),
        hot("hot 304", of_first(first, &format!("if-none-match: {tag}\r\n"))),
        hot("hot gzip page", of_first(first, GZIP)),
        Plan { goal: 2.2, ..hot("all accounts in turn", walk(data, first, false)) },
        cold("cold first page", of_first(first, "")),
        cold("cold deep page", of_first(deep, "")),
        cold("cold detail", of_first(&detail, "")),
        changing("hot page under commits", of_first(first, "")),
        changing("all accounts under commits", walk(data, first, false)),
    ])
}

/// The address of the page of fifty nine tenths of the way down, found page by page.
fn deep_page(address: SocketAddr, owner: &Owner) -> Result<String, Box<dyn Error>> {
    let mut connection = Connection::open(address)?;
    let mut cursor = String::new();
    for _ in 0..owner.courses / 1_000 * 9 {
        let answer = connection.ask(&request(owner, &format!("/courses?limit=100{cursor}"), ""))?;
        let page: serde_json::Value = serde_json::from_slice(answer.body)?;
        cursor = format!("&cursor={}", page["meta"]["nextCursor"].as_str().ok_or("the list ends too early")?);
    }
    Ok(format!("/courses?limit=50{cursor}"))
}

fn request(owner: &Owner, path: &str, fields: &str) -> Vec<u8> {
    let token = owner.token.expose();
    format!("GET /api/v1{path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {token}\r\n{fields}\r\n").into()
}

/// The answer as the constant handler reads it.
fn constant_form(answer: &Answer<'_>) -> Vec<u8> {
    let mut lines = answer.head.lines();
    let mut text = lines.next().unwrap_or_default().to_owned() + "\r\n";
    for line in lines.filter(|line| KEPT_FIELDS.iter().any(|field| line.starts_with(field))) {
        text += line;
        text += "\r\n";
    }
    [(text + "\r\n").as_bytes(), answer.body].concat()
}
