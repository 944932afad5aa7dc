//! [`Revision`]: identifies the state of an account's courses.

/// Identifier of the state of one account's courses: two are equal only if the courses are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Revision([u8; 16]);

impl Revision {
    /// Creates a revision from its bytes, which a storage draws at random for every change.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Returns the revision's bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

/// Data read from an account's courses, with their revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtRevision<T> {
    /// The data.
    pub value: T,
    /// The account's revision at the time of reading or later, from the same database server; never an earlier one.
    /// `None` if the storage has none or cannot determine it: the response is then correct, but not cached.
    pub revision: Option<Revision>,
}

/// Creates data without a revision.
impl<T> From<T> for AtRevision<T> {
    fn from(value: T) -> Self {
        Self { value, revision: None }
    }
}
