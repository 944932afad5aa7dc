//! Counts credentials that expire soon, never expire, or are unused, and names the first of each.

use std::ops::ControlFlow;
use std::time::Duration;

use catalogue_core::Timestamp;
use catalogue_core::admin::{Accounts, AdminStorage, CredentialRecord};
use catalogue_core::storage::StorageError;

use crate::exit::chain;
use crate::report::{NamedKey, Report};

const CHECK: &str = "credentials";
const EXPIRY_WARNING: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Time without a use after which a credential counts as unused.
const UNUSED_WARNING: Duration = Duration::from_secs(90 * 24 * 60 * 60);
/// Maximum number of named credentials of a kind.
const MAX_LISTED_KEYS: usize = 5;

/// Number of credentials of a kind, and the first of them by day.
#[derive(Debug, Default)]
pub(super) struct KeySample {
    pub(super) count: usize,
    pub(super) first: Vec<NamedKey>,
}

#[derive(Debug, Default)]
struct Counts {
    active: usize,
    expire_soon: KeySample,
    never_expire: KeySample,
    unused: KeySample,
}

impl KeySample {
    pub(super) fn add(&mut self, key: NamedKey) {
        self.count += 1;
        let at = self.first.partition_point(|other| other.day() <= key.day());
        self.first.insert(at, key);
        self.first.truncate(MAX_LISTED_KEYS);
    }
}

pub(super) async fn check(storage: &dyn AdminStorage, now: Timestamp, report: &mut Report) {
    match count(storage, now).await {
        Err(error) => report.error(CHECK, chain(&error)),
        Ok(Counts { active: 0, .. }) => {
            report.warning(CHECK, "no active credential; create an API key with `keys create`");
        }
        Ok(Counts { active, expire_soon, never_expire, unused }) => {
            let (soon, never) = (expire_soon.count, never_expire.count);
            let mut text = format!("active: {active}; expiring within 7 days: {soon}, never: {never}");
            if unused.count > 0 {
                text += &format!("; unused for 90 days: {}", unused.count);
            }
            match soon {
                0 => report.ok(CHECK, text),
                _ => report.warning(CHECK, format!("{text}; replace keys with `keys rotate`")),
            }
            report.add_keys([expire_soon, never_expire, unused].into_iter().flat_map(|kind| kind.first));
        }
    }
}

async fn count(storage: &dyn AdminStorage, now: Timestamp) -> Result<Counts, StorageError> {
    let mut counts = Counts::default();
    let mut visit = |record: CredentialRecord| {
        if record.state(now).is_active() {
            counts.active += 1;
            match record.expires_at {
                Some(end) if now.checked_add(EXPIRY_WARNING).is_none_or(|soon| end <= soon) => {
                    counts.expire_soon.add(NamedKey::from(&record));
                }
                Some(_) => {}
                None => counts.never_expire.add(NamedKey::from(&record)),
            }
            let last = record.last_used_at.unwrap_or(record.created_at);
            if last.checked_add(UNUSED_WARNING).is_some_and(|then| then <= now) {
                let mut key = NamedKey::from(&record);
                key.unused_since = Some(last);
                counts.unused.add(key);
            }
        }
        ControlFlow::Continue(())
    };
    storage.visit_credentials(Accounts::All, &mut visit).await?;
    Ok(counts)
}
