//! Nonces of forms, and the ids of keys that are derived from them.

use catalogue_core::{AccountId, Timestamp};
use sha2::{Digest, Sha256};
use uuid::{Builder, Uuid, Variant};

use crate::input::{FieldError, Reason};

/// Maximum age of a nonce, in milliseconds.
const MAX_AGE_MS: i64 = 24 * 60 * 60 * 1000;
/// Maximum time that a nonce may be ahead of the clock, in milliseconds.
const MAX_CLOCK_SKEW_MS: i64 = 5 * 60 * 1000;

/// Identifier of a form. Equal nonces result in equal key ids within an account.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nonce(Uuid);

impl Nonce {
    /// Creates a nonce at `now`.
    ///
    /// # Panics
    /// Panics if the system has no source of randomness.
    pub(crate) fn fresh(now: Timestamp) -> Self {
        let mut random = [0; 10];
        getrandom::fill(&mut random).expect("the system's randomness");
        Self(Builder::from_unix_timestamp_millis(milliseconds(now).unsigned_abs(), &random).into_uuid())
    }

    /// Parses a nonce that came back with a form.
    pub(crate) fn parse(text: &str, now: Timestamp) -> Result<Self, FieldError> {
        if text.is_empty() {
            return Err(Reason::Missing.of("nonce"));
        }
        let uuid = Uuid::try_parse(text).ok().filter(|uuid| text == uuid.simple().to_string());
        let uuid = uuid.filter(|uuid| uuid.get_version_num() == 7 && uuid.get_variant() == Variant::RFC4122);
        let uuid =
            uuid.filter(|uuid| (-MAX_CLOCK_SKEW_MS..=MAX_AGE_MS).contains(&(milliseconds(now) - time_of(*uuid))));
        uuid.map(Self).ok_or_else(|| Reason::OutOfRange.of("nonce"))
    }

    pub(crate) fn text(self) -> String {
        self.0.simple().to_string()
    }

    /// Returns the id of the key that a form with this nonce creates for `account`. Its random bits are from a digest, so
    /// clients cannot choose it.
    pub(crate) fn key_id(self, account: &AccountId) -> String {
        let digest = Sha256::new().chain_update(account.as_str()).chain_update([0]).chain_update(self.0).finalize();
        let random = digest.first_chunk().expect("SHA-256 has 32 bytes");
        let milliseconds = time_of(self.0).unsigned_abs();
        format!("key_{}", Builder::from_unix_timestamp_millis(milliseconds, random).into_uuid().simple())
    }
}

fn milliseconds(time: Timestamp) -> i64 {
    time.as_microseconds().div_euclid(1000)
}

/// Returns the first 48 bits of a `UUIDv7`: its time in milliseconds.
fn time_of(uuid: Uuid) -> i64 {
    (uuid.as_u128() >> 80) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    #[test]
    fn nonce_is_valid_for_a_day() {
        let created = at("2026-11-22T10:00:00Z");
        let nonce = Nonce::fresh(created).text();
        for (now, accepted) in [
            ("2026-11-22T10:00:00Z", true),
            ("2026-11-23T10:00:00Z", true),
            ("2026-11-23T10:00:00.001Z", false),
            ("2026-11-22T09:55:00Z", true),
            ("2026-11-22T09:54:59.999Z", false),
        ] {
            assert_eq!(Nonce::parse(&nonce, at(now)).is_ok(), accepted, "{now}");
        }
        let [other_version, other_variant] =
            [(12, "4"), (16, "c")].map(|(at, digit)| [&nonce[..at], digit, &nonce[at + 1..]].concat());
        for invalid in [
            &other_version,
            &other_variant,
            &nonce[1..],
            &nonce.to_uppercase(),
            &Uuid::parse_str(&nonce).unwrap().to_string(),
            "x",
        ] {
            assert_eq!(Nonce::parse(invalid, created).unwrap_err().reason, Reason::OutOfRange, "{invalid}");
        }
        assert_eq!(Nonce::parse("", created).unwrap_err().reason, Reason::Missing);
    }

    #[test]
    fn key_id_is_derived_from_account_and_nonce() {
        let now = at("2026-11-22T10:00:00Z");
        let (one, other) = (Nonce::fresh(now), Nonce::fresh(now));
        let (anna, bert) = (AccountId::new("anna"), AccountId::new("bert"));
        assert_eq!(one.key_id(&anna), Nonce::parse(&one.text(), now).unwrap().key_id(&anna));
        assert_ne!(one.key_id(&anna), one.key_id(&bert));
        assert_ne!(one.key_id(&anna), other.key_id(&anna));
        assert_eq!(one.key_id(&anna)[..16], format!("key_{}", one.text())[..16]);
    }
}
