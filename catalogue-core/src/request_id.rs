//! Request ids: the caller's own, or a new one (decision A16).

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use http::{HeaderMap, HeaderName, HeaderValue};
use uuid::Uuid;
use uuid::fmt::Simple;

pub(crate) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Maximum length of a caller's id in characters.
pub(crate) const MAX_REQUEST_ID_LENGTH: usize = 128;

/// Generator of ids that neither repeat nor reveal the number of requests: a counter under two keyed hashes, whose keys the
/// system draws at random.
#[derive(Debug, Default)]
pub struct RequestIds {
    keys: [RandomState; 2],
    next: AtomicU64,
}

impl RequestIds {
    /// Returns the caller's id if it is the only one and has 1 to 128 visible ASCII characters, else a new one.
    ///
    /// # Panics
    /// Never panics: a new id is visible ASCII.
    #[must_use]
    pub fn of(&self, headers: &HeaderMap) -> HeaderValue {
        let mut given = headers.get_all(X_REQUEST_ID).iter();
        match (given.next(), given.next()) {
            (Some(id), None) if is_valid_request_id(id) => id.clone(),
            _ => self.fresh(),
        }
    }

    fn fresh(&self) -> HeaderValue {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let [high, low] = self.keys.each_ref().map(|keys| keys.hash_one(number));
        let mut id = [0; Simple::LENGTH];
        Uuid::from_u64_pair(high, low).simple().encode_lower(&mut id);
        HeaderValue::from_bytes(&id).expect("hexadecimal digits are visible ASCII")
    }
}

fn is_valid_request_id(id: &HeaderValue) -> bool {
    (1..=MAX_REQUEST_ID_LENGTH).contains(&id.len()) && id.as_bytes().iter().all(u8::is_ascii_graphic)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[&[u8]]) -> HeaderValue {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(X_REQUEST_ID, HeaderValue::from_bytes(value).unwrap());
        }
        RequestIds::default().of(&headers)
    }

    #[test]
    fn valid_id_is_kept_and_invalid_id_replaced() {
        assert_eq!(of(&[b"abc-123"]), "abc-123");
        assert_eq!(of(&[&[b'~'; 128]]), "~".repeat(128));
        for bad in [&b""[..], b"a b", b"\xc3\xa9", &[b'a'; 129]] {
            assert_eq!(of(&[bad]).len(), 32);
        }
        assert_eq!(of(&[b"one", b"two"]).len(), 32);
        assert_eq!(of(&[]).len(), 32);
    }

    /// Two adjacent digits are independent of each other.
    #[test]
    fn every_digit_is_random() {
        let ids = RequestIds::default();
        let mut pairs = std::collections::HashSet::new();
        for _ in 0..4_096 {
            let id = ids.fresh();
            pairs.extend(id.as_bytes().windows(2).enumerate().map(|(at, pair)| (at, pair[0], pair[1])));
        }
        // All 256 values for each of the 31 pairs of adjacent digits, except for a few by chance.
        assert!(pairs.len() > 31 * 255, "{}", pairs.len());
    }

    #[test]
    fn fresh_ids_differ() {
        let ids = RequestIds::default();
        let many = || (0..4_096).map(|_| ids.fresh()).collect::<Vec<_>>();
        let all: Vec<_> = std::thread::scope(|scope| {
            let threads = [(); 3].map(|()| scope.spawn(many));
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(all.iter().collect::<std::collections::HashSet<_>>().len(), all.len());
    }
}
