//! [`Deviations`]: deviations that a server was declared to have, and checks that it has them.

use std::cell::Cell;

use crate::cases::cases;
use crate::response::{Response, SERVER_HEADERS};

/// Deviation of a response from the core's.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Deviation {
    Status(u16),
    NoResponse,
    /// The core's status with another body.
    Body,
}

/// All declared deviations of a server.
#[derive(Debug, Default)]
pub(crate) struct Deviations {
    exceptions: Vec<DeclaredDeviation>,
    added: Vec<String>,
    dropped: Vec<String>,
}

#[derive(Debug)]
struct DeclaredDeviation {
    /// Name of a case; followed by `#` and a number if it is one request of the case.
    name: String,
    deviation: Deviation,
    used: Cell<bool>,
}

impl Deviations {
    /// Declares how the responses to a case, or to one request of it, deviate. Panics if `name` is neither a case nor a
    /// request of one, or was declared before.
    pub(crate) fn declare(&mut self, name: &str, deviation: Deviation) {
        let (case, number) = name.split_once('#').map_or((name, None), |(case, number)| (case, Some(number)));
        let known = cases().any(|(topic, name)| case.split_once("::") == Some((topic, name)));
        assert!(known, "unknown case {case}");
        let is_number = |number: &str| number.parse::<u16>().is_ok_and(|n| n > 0 && n.to_string() == number);
        assert!(number.is_none_or(is_number), "{name} is not a request; use a name like {case}#1");
        assert!(self.exceptions.iter().all(|exception| exception.name != name), "{name} was declared twice");
        self.exceptions.push(DeclaredDeviation { name: name.to_owned(), deviation, used: Cell::new(false) });
    }

    /// Declares a header that the server adds to every response. Panics if every server may send it.
    pub(crate) fn add(&mut self, name: &str) {
        let name = name.to_ascii_lowercase();
        assert!(!SERVER_HEADERS.contains(&&*name), "every server may send {name}; do not declare it");
        self.added.push(name);
    }

    pub(crate) fn drop(&mut self, name: &str) {
        self.dropped.push(name.to_ascii_lowercase());
    }

    pub(crate) fn dropped(&self) -> &[String] {
        &self.dropped
    }

    /// Returns the deviation declared for request `number` of `case`, if any.
    pub(crate) fn exception(&self, case: &str, number: usize) -> Option<Deviation> {
        let request = format!("{case}#{number}");
        let named = |name: &str| self.exceptions.iter().find(|exception| exception.name == name);
        let exception = named(&request).or_else(|| named(case))?;
        exception.used.set(true);
        Some(exception.deviation)
    }

    /// Returns a deviation declared for `case` that no request of it has used.
    pub(crate) fn unused(&self, case: &str) -> Option<&str> {
        let of_case = |name: &str| name.strip_prefix(case).is_some_and(|rest| rest.is_empty() || rest.starts_with('#'));
        let unused = self.exceptions.iter().find(|exception| of_case(&exception.name) && !exception.used.get());
        unused.map(|exception| &*exception.name)
    }

    /// Returns how a response differs from the core's, apart from declared headers; `None` if it does not.
    pub(crate) fn difference(&self, mut response: Response, mut core: Response) -> Option<String> {
        if response.status != core.status {
            return response.difference(&core);
        }
        for name in &self.added {
            if core.headers.contains_key(name) {
                return Some(format!("the header {name} is the catalogue's, but was declared to be added"));
            }
            if response.headers.remove(name).is_none() {
                return Some(format!("the header {name} was not added, but was declared to be"));
            }
        }
        for name in &self.dropped {
            if core.headers.remove(name).is_some() && response.headers.contains_key(name) {
                return Some(format!("the header {name} was not dropped, but was declared to be"));
            }
        }
        response.difference(&core)
    }

    /// Returns how the server's response contradicts its declared deviation from the core's response, if it does.
    pub(crate) fn mismatch(&self, deviation: Deviation, response: Option<Response>, core: Response) -> Option<String> {
        let declared = match deviation {
            Deviation::Status(status) => Some(status),
            Deviation::NoResponse => None,
            Deviation::Body => Some(core.status),
        };
        let status = response.as_ref().map(|response| response.status);
        if status != declared {
            let [status, declared] =
                [status, declared].map(|status| status.map_or("none".to_owned(), |status| status.to_string()));
            return Some(format!("the status is {status} and not {declared}, as declared"));
        }
        let response = response?;
        let has_core_body = response.body == core.body;
        if self.difference(response, core).is_none() {
            return Some("the response does not differ, but was declared to".to_owned());
        }
        let is_other = !matches!(deviation, Deviation::Body) || !has_core_body;
        (!is_other).then(|| "the body does not differ, but was declared to".to_owned())
    }
}
