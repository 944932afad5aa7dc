//! Signed tokens: beside API keys and opaque tokens on the same server, and the memory of those that it keeps.

use std::error::Error;
use std::path::Path;

use catalogue_benches::{Connection, Data, Issuer, Program, on_one_processor, resident_memory};

use crate::measure::visit;
use crate::works::{FIRST_PAGE, Target, Work};

/// The works of signed tokens, each with what it is measured beside.
pub(crate) const NAMES: [&str; 4] = [
    "signed: kept page, beside an API key",
    "signed: API key, beside no issuer",
    "signed: refused with a known kid, beside an opaque one",
    "signed: refused with another kid, beside an opaque one",
];
/// How many tokens a server keeps by default.
const KEPT: usize = 10_000;

/// An issuer, and a server that takes its tokens.
#[derive(Debug)]
pub(crate) struct Signed {
    issuer: Issuer,
    servers: Vec<Program>,
}

impl Signed {
    pub(crate) fn start(number: usize, catalogue: &Path, data: &Data) -> Result<Self, Box<dyn Error>> {
        let issuer = Issuer::of("ES256");
        let set = data.write_beside("key-set.json", issuer.key_set().as_bytes())?;
        let mut command = on_one_processor(catalogue);
        command.args(["serve", "--listen", "127.0.0.1:0", "--database", &data.address()]);
        command.args(["--oauth-issuer", Issuer::NAME, "--oauth-audience", Issuer::AUDIENCE]);
        command.args(["--oauth-account-claim", "account", "--oauth-keys", &format!("file:{set}")]);
        let servers = (0..number).map(|_| Program::start(&mut command, 1)).collect::<Result<_, _>>()?;
        Ok(Self { issuer, servers })
    }

    /// The works of these names; `plain` are servers that take API keys alone.
    pub(crate) fn works(
        &self,
        names: &[&'static str],
        data: &Data,
        plain: &[Program],
    ) -> Result<Vec<Work>, Box<dyn Error>> {
        let owner = &data.accounts()[0];
        let account = &owner.account;
        let key = || Target::of(&self.servers, vec![owner.request(FIRST_PAGE, "")]);
        let with = |token: &str, status: u16| Target {
            status,
            ..Target::of(&self.servers, vec![owner.request_with(token, FIRST_PAGE, "")])
        };
        let work = |name: &'static str| {
            let (goal, this, than) = match NAMES.iter().position(|known| *known == name) {
                Some(0) => (1.25, with(&self.issuer.token(account, 0), 200), key()),
                Some(1) => (1.05, key(), Target::of(plain, key().requests)),
                // Their goals are in µs: one verification and 15, and 10.
                Some(2) => (f64::NAN, with(&self.issuer.forged(account), 401), with("unknown", 401)),
                _ => (f64::NAN, with(&self.issuer.token_of_another_key(account), 401), with("unknown", 401)),
            };
            Work { name, goal, this, than, with_database: false }
        };
        let works: Vec<_> = names.iter().copied().map(work).collect();
        for Work { name, this, .. } in &works {
            let found = Connection::open(this.addresses[0])?.ask(&this.requests[0])?.status;
            if found != this.status {
                return Err(format!("{name}: the answer is {found} in place of {}", this.status).into());
            }
        }
        Ok(works)
    }

    /// Bytes that the first server grows by as it sees as many tokens as it keeps, after as many requests by API key.
    pub(crate) fn memory(&self, data: &Data) -> Result<u64, Box<dyn Error>> {
        let owner = &data.accounts()[0];
        visit(&Target::of(&self.servers[..1], vec![owner.request("/me", ""); KEPT]))?;
        let (before, _) = resident_memory(self.servers[0].id())?;
        let asked = (0..KEPT).map(|number| {
            let token = self.issuer.token(&owner.account, number);
            owner.request_with(&token, "/me", "")
        });
        visit(&Target::of(&self.servers[..1], asked.collect()))?;
        Ok(resident_memory(self.servers[0].id())?.0.saturating_sub(before))
    }
}
