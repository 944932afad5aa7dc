//! [`Rendering`]: entity tags of responses that have not been rendered yet.

use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU32, Ordering};

use sha2::{Digest, Sha256};

use crate::model::Identity;
use crate::mount_url::MountUrl;
use crate::operation::Operation;
use crate::response::cache_key::{CacheKey, Subject};
use crate::response::conditional::ETag;

/// Inputs of one mount's responses besides data: the URL that they link to, and the code that renders them.
#[derive(Debug)]
pub(crate) struct Rendering {
    pub(crate) base: MountUrl,
    /// Distinguishes the cached responses of this mount from those of others in this process.
    pub(crate) mount: u32,
    /// Digest of version, URL and the examples of all operations: equal on all servers of one version at one URL.
    digest: Sha256,
}

impl Rendering {
    /// Creates the rendering of this build, for links below `base`.
    pub(crate) fn for_this_build(base: MountUrl) -> Self {
        static MOUNTS: AtomicU32 = AtomicU32::new(0);
        let mut digest = Sha256::new_with_prefix(env!("CARGO_PKG_VERSION"));
        digest.update(base.as_str());
        for &operation in Operation::ALL {
            digest.update(operation.id());
            digest.update((operation.spec().example)().body);
        }
        let digest = Sha256::new_with_prefix(digest.finalize());
        Self { base, mount: MOUNTS.fetch_add(1, Ordering::Relaxed), digest }
    }

    pub(crate) fn tag(&self, key: &CacheKey) -> ETag {
        let CacheKey { mount: _, account, subject, call } = key;
        match subject {
            Subject::Courses(revision) => self.tag_of(&(account, revision, call)),
            Subject::Caller(identity) => {
                // No response shows the issuer of a token.
                let Identity { account, kind, credential_id, scopes, issued: _ } = &**identity;
                self.tag_of(&("identity", account, kind, credential_id, scopes))
            }
        }
    }

    fn tag_of(&self, what: &impl Hash) -> ETag {
        let mut digest = DigestHasher(self.digest.clone());
        what.hash(&mut digest);
        ETag::from_digest(digest.0)
    }
}

/// Adapter that feeds a [`Hash`] into a digest.
///
/// The derived `Hash` writes every field, texts with an end mark, so different keys feed different bytes.
struct DigestHasher(Sha256);

impl Hasher for DigestHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        unreachable!("no caller uses the short hash")
    }
}
