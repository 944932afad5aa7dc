//! [`Frontend`]: a server beside the very catalogue that it serves.

use std::fmt;
use std::time::Duration;

use catalogue_core::Catalogue;

use crate::answer::Answer;
use crate::ask::Ask;
use crate::seed::Seed;
use crate::server::Server;
use crate::wire;

/// After how long a server that does not answer has failed.
const DEADLINE: Duration = Duration::from_secs(30);

/// What the suite speaks to a server.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    Http1,
    Http2,
}

/// A frontend in the hands of one case: its server, and the catalogue that it serves. [`tests!`](crate::tests) makes
/// one for each.
pub struct Frontend {
    case: &'static str,
    protocol: Protocol,
    server: Server,
    seed: Seed,
}

/// Runs a case to its end on a runtime of its own.
#[doc(hidden)]
pub fn run(
    case: &'static str,
    protocol: Protocol,
    fixture: impl AsyncFnOnce(Catalogue) -> Server,
    body: impl AsyncFnOnce(&Frontend),
) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be built");
    runtime.block_on(async {
        let seed = Seed::new().await;
        let server = fixture(seed.catalogue.clone()).await;
        body(&Frontend { case, protocol, server, seed }).await;
    });
}

impl Frontend {
    /// A request with the key that reads courses.
    pub(crate) fn ask(&self, method: &'static str, target: impl Into<String>) -> Ask {
        Ask::new(method, target).bearer(&self.seed.key)
    }

    /// GET with the key that reads courses.
    pub(crate) fn get(&self, target: impl Into<String>) -> Ask {
        self.ask("GET", target)
    }

    pub(crate) fn seed(&self) -> &Seed {
        &self.seed
    }

    /// What the core answers.
    pub(crate) async fn core(&self, ask: &Ask) -> Answer {
        self.seed.catalogue.call(ask.to_request("")).await.into()
    }

    /// Asserts that the server answers `ask` as the core does, with a status that says that the case is about
    /// something.
    pub(crate) async fn agrees(&self, rule: &str, status: u16, ask: Ask) {
        let core = self.core(&ask).await;
        assert_eq!(
            core.status, status,
            "the core answers {} {} in another way than the case expects",
            ask.method, ask.target
        );
        let fault = match (self.server.exception(self.case), self.send(&ask).await) {
            (None, Ok(answer)) => answer.difference(&core),
            (None, Err(error)) => Some(format!("there was no answer: {error}")),
            (Some(declared), outcome) => undeclared(declared, outcome.ok(), &core),
        };
        if let Some(fault) = fault {
            panic!("{rule} Asked {} {}, {fault}.", ask.method, ask.target);
        }
    }

    /// Asserts that each page agrees, from `start` along the links to the last.
    pub(crate) async fn walks(&self, rule: &str, start: &str, ask: impl Fn(&str) -> Ask) {
        let mut target = start.to_owned();
        for _ in 0..10 {
            let answer = self.core(&ask(&target)).await;
            self.agrees(rule, 200, ask(&target)).await;
            let Some(link) = answer.headers.get("link") else { return };
            let link = str::from_utf8(&link[0]).expect("a link is ASCII");
            target = link.trim_start_matches('<').split('>').next().expect("a link has an address").to_owned();
        }
        panic!("{rule} The walk came to no end.");
    }

    async fn send(&self, ask: &Ask) -> Result<Answer, wire::Failed> {
        let exchange = async {
            match self.protocol {
                Protocol::Http1 => wire::http1::exchange(self.server.address(), ask).await,
                Protocol::Http2 => wire::http2::exchange(self.server.address(), ask).await,
            }
        };
        tokio::time::timeout(DEADLINE, exchange).await.unwrap_or_else(|_| Err("it came to no end".into()))
    }
}

/// What is not as it was declared: the status, or none where there was to be no answer.
fn undeclared(declared: Option<u16>, answer: Option<Answer>, core: &Answer) -> Option<String> {
    let status = answer.as_ref().map(|answer| answer.status);
    if status != declared {
        let [status, declared] = [status, declared].map(|status| status.map_or("none".to_owned(), |s| s.to_string()));
        return Some(format!("the status is {status} and not {declared}, as the server was declared to answer"));
    }
    let answers_as_the_core = answer.is_some_and(|answer| answer.difference(core).is_none());
    answers_as_the_core.then(|| "nothing is otherwise, as the server was declared to be".to_owned())
}

impl fmt::Debug for Frontend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frontend").field("case", &self.case).field("server", &self.server).finish_non_exhaustive()
    }
}
