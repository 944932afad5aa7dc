//! [`PageCache`]: answers that were rendered before, kept by what they depend on.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quick_cache::sync::Cache;
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};

use crate::entity::Entity;
use crate::error::ApiError;
use crate::model::AccountId;
use crate::operation::Request;
use crate::storage::Revision;

/// How many bytes a page of fifty usually takes up, for the cache's first layout.
const USUAL_WEIGHT: usize = 16 << 10;

/// All that the bytes of an answer depend on, beside the code that renders them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) account: AccountId,
    pub(crate) revision: Revision,
    pub(crate) request: Request,
}

/// How often kept answers were found, and how many bytes they take up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PageCacheStatistics {
    /// Answers that were found.
    pub hits: u64,
    /// Answers that had to be rendered.
    pub misses: u64,
    /// Bytes that the kept answers take up at most, with their compressed forms and keys.
    pub bytes: u64,
}

/// Rendered answers, up to a number of bytes. An answer is never stale: a change gives its account another revision, and
/// the old one is not asked for again.
#[derive(Debug)]
pub(crate) struct PageCache {
    /// `None` where nothing is kept.
    entries: Option<Cache<Key, Arc<Entity>, Bytes>>,
    hits: AtomicU64,
    misses: AtomicU64,
}

#[derive(Clone, Debug)]
struct Bytes;

impl Weighter<Key, Arc<Entity>> for Bytes {
    fn weight(&self, key: &Key, entity: &Arc<Entity>) -> u64 {
        let bytes = size_of::<Key>() + key.account.as_str().len() + key.request.weight() + entity.weight();
        // The allocator and the cache's own table take up about an eighth more.
        (bytes + bytes / 8) as u64
    }
}

impl PageCache {
    /// A cache of at most that many bytes; with 0 nothing is kept.
    pub(crate) fn new(bytes: usize) -> Self {
        let entries = (bytes > 0).then(|| {
            let options = OptionsBuilder::new()
                .weight_capacity(bytes as u64)
                .estimated_items_capacity(bytes / USUAL_WEIGHT)
                .build()
                .expect("both bounds are given");
            Cache::with_options(
                options,
                Bytes,
                DefaultHashBuilder::default(),
                quick_cache::sync::DefaultLifecycle::default(),
            )
        });
        Self { entries, hits: AtomicU64::new(0), misses: AtomicU64::new(0) }
    }

    /// The kept answer, if there is one.
    pub(crate) fn get(&self, key: &Key) -> Option<Arc<Entity>> {
        let entity = self.entries.as_ref()?.get(key)?;
        self.hits.fetch_add(1, Ordering::Relaxed);
        Some(entity)
    }

    /// The kept answer, or a new one. While one caller renders it, others who ask for the same wait for it.
    pub(crate) async fn get_or_render(
        &self,
        key: &Key,
        render: impl Future<Output = Result<Fresh, ApiError>>,
    ) -> Result<Arc<Entity>, ApiError> {
        let Some(entries) = &self.entries else {
            return render.await.map(Fresh::into_entity);
        };
        match entries.get_value_or_guard_async(key).await {
            Ok(entity) => {
                self.hits.fetch_add(1, Ordering::Relaxed);
                Ok(entity)
            }
            Err(place) => {
                self.misses.fetch_add(1, Ordering::Relaxed);
                let fresh = render.await?;
                if let Fresh::OfTheRevision(entity) = &fresh {
                    // It may be too large, or its place taken meanwhile; then it is not kept.
                    let _ = place.insert(Arc::clone(entity));
                }
                Ok(fresh.into_entity())
            }
        }
    }

    pub(crate) fn statistics(&self) -> PageCacheStatistics {
        PageCacheStatistics {
            hits: self.hits.load(Ordering::Relaxed),
            misses: self.misses.load(Ordering::Relaxed),
            bytes: self.entries.as_ref().map_or(0, Cache::weight),
        }
    }
}

/// An answer that was just rendered.
#[derive(Debug)]
pub(crate) enum Fresh {
    /// The account's revision was the same before and after the courses were read, so they are of that revision.
    OfTheRevision(Arc<Entity>),
    /// A change came between. The answer is right, but it must not be kept under the revision that was asked for.
    Changed(Arc<Entity>),
}

impl Fresh {
    fn into_entity(self) -> Arc<Entity> {
        match self {
            Self::OfTheRevision(entity) | Self::Changed(entity) => entity,
        }
    }
}
