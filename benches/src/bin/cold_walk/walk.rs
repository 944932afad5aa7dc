//! [`Walk`]: all courses of all accounts, page by page.

use std::net::SocketAddr;
use std::sync::Mutex;
use std::time::Instant;

use catalogue_benches::{Connection, Owner};

/// Accounts that are still to be walked, in an order that is not that of the file.
pub(crate) struct Walk<'a> {
    owners: Mutex<Vec<&'a Owner>>,
    limit: usize,
}

impl<'a> Walk<'a> {
    /// Over the courses of these accounts, so many a page.
    pub(crate) fn over(owners: &'a [Owner], limit: usize) -> Self {
        let mut owners: Vec<_> = owners.iter().collect();
        let mut random = 0x2545_f491_4f6c_dd1d_u64;
        for last in (1..owners.len()).rev() {
            // xorshift64.
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            owners.swap(last, (random >> 16) as usize % (last + 1));
        }
        Self { owners: Mutex::new(owners), limit }
    }

    /// Walks over one account after the other until none is left or the time is over, and gives how many pages there were.
    pub(crate) fn go(&self, address: SocketAddr, end: Instant) -> Result<u64, String> {
        let failed = |error| format!("a walk: {error}");
        let mut connection = Connection::open(address).map_err(failed)?;
        let mut pages = 0;
        while let Some(owner) = self.next() {
            let mut cursor = String::new();
            loop {
                if Instant::now() >= end {
                    return Ok(pages);
                }
                let path = format!("/courses?limit={}{cursor}", self.limit);
                let answer = connection.ask(&request(owner, &path)).map_err(failed)?;
                if answer.status != 200 {
                    return Err(format!("a walk: an answer of status {}", answer.status));
                }
                pages += 1;
                let Some(next) = next_cursor(answer.body) else { break };
                cursor = format!("&cursor={next}");
            }
        }
        Ok(pages)
    }

    fn next(&self) -> Option<&'a Owner> {
        self.owners.lock().ok()?.pop()
    }
}

/// A request with that account's key.
pub(crate) fn request(owner: &Owner, path: &str) -> Vec<u8> {
    let token = owner.token.expose();
    format!("GET /api/v1{path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {token}\r\n\r\n").into()
}

/// What stands behind the page, found at the end of the body: reading all of it as JSON would take the processor from those
/// who are measured.
fn next_cursor(body: &[u8]) -> Option<String> {
    let end = str::from_utf8(&body[body.len().saturating_sub(600)..]).ok()?;
    let (_, cursor) = end.rsplit_once("\"nextCursor\":\"")?;
    cursor.split_once('"').map(|(cursor, _)| cursor.to_owned())
}
