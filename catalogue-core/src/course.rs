//! [`Course`]: a course as a storage keeps it.

use std::fmt;

use crate::model::AccountId;
use crate::timestamp::Timestamp;

/// A course with all that a storage keeps of it, its modules' bodies included. It cannot be serialised, so it cannot
/// reach an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Course {
    /// Whose course it is.
    pub account: AccountId,
    /// The course's slug, unique within its account.
    pub slug: String,
    /// The course's title.
    pub title: String,
    /// One line that says what the course is; may be empty.
    pub tagline: String,
    /// The language that the course is written in.
    pub language: String,
    /// When the course was created; the list is ordered by it.
    pub created_at: Timestamp,
    /// When the course was published; `None` if it is not.
    pub published_at: Option<Timestamp>,
    /// Whether the course's owner hides it from clients.
    pub hidden: bool,
    /// The course's access mode, if set.
    pub access_mode: Option<String>,
    /// The modules in order; the first is number 1.
    pub modules: Vec<CourseModule>,
}

/// A module with its body, which its `Debug` leaves out.
#[derive(Clone, PartialEq, Eq)]
pub struct CourseModule {
    /// The module's title.
    pub title: String,
    /// A summary; may be empty.
    pub summary: String,
    /// The body; may be empty. No operation of the API reads it.
    pub content: String,
}

impl fmt::Debug for CourseModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CourseModule")
            .field("title", &self.title)
            .field("summary", &self.summary)
            .finish_non_exhaustive()
    }
}
