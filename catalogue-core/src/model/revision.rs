//! [`Revision`]: stands for the state of an account's courses.

/// Stands for the state of one account's courses: equal only where the courses are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Revision([u8; 16]);

impl Revision {
    /// A revision with these bytes, which a storage draws at random for every change.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The revision's bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

/// What was read of an account's courses, with the revision that goes with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtRevision<T> {
    /// What was read.
    pub value: T,
    /// The account's revision at the moment of reading or later, by the same server of the database; never an earlier
    /// one. `None` where the storage keeps none, or cannot tell: the answer is then correct, and not cached.
    pub revision: Option<Revision>,
}

/// Where no revisions are kept.
impl<T> From<T> for AtRevision<T> {
    fn from(value: T) -> Self {
        Self { value, revision: None }
    }
}
