//! Course reads of a host application, and flaws of its storages.

use std::sync::{Arc, RwLock};

use catalogue_core::storage::{
    AtRevision, CourseRows, CourseStorage, PageRequest, Position, Revision, StorageError, StorageErrorKind,
};
use catalogue_core::{AccountId, Course, CourseDetail, async_trait};
use catalogue_storage_conformance::sample::{detail, row};

use crate::blocked_reads::Lock;
use crate::host::Tables;

/// Flaw of a host application's storages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    OldestFirst,
    TiesAscending,
    OmitsHidden,
    IncludesCursorPosition,
    ComparesTimeOnly,
    NextOnLastPage,
    OmitsExtraRow,
    IgnoresAccountInLists,
    IgnoresAccountInDetails,
    IgnoresSlugCase,
    NumbersModulesFromZero,
    ServesRemovedCourses,
    ServesFirstVersion,
    FailsForMissingCourse,
    NeverReplacesRevision,
    IgnoresRemovalInRevision,
    /// Lookups of credentials return the account's first revision.
    StaleRevision,
    HidesRevoked,
    OmitsScopes,
}

/// The host application's course storage.
#[derive(Debug)]
pub(crate) struct Courses {
    pub(crate) tables: Arc<RwLock<Tables>>,
    pub(crate) flaw: Option<Flaw>,
    pub(crate) lock: Arc<Lock>,
}

impl Courses {
    fn has(&self, flaw: Flaw) -> bool {
        self.flaw == Some(flaw)
    }

    fn follows(&self, position: &Position, after: &Position) -> bool {
        match self.flaw {
            Some(Flaw::OldestFirst) => position > after,
            Some(Flaw::IncludesCursorPosition) => position <= after,
            Some(Flaw::ComparesTimeOnly) => position.created_at < after.created_at,
            Some(Flaw::TiesAscending) => (after.created_at, &position.slug) > (position.created_at, &after.slug),
            _ => position < after,
        }
    }

    fn sort(&self, rows: &mut [(Position, &Course)]) {
        rows.sort_by(|(one, _), (two, _)| match self.flaw {
            Some(Flaw::OldestFirst) => one.cmp(two),
            Some(Flaw::TiesAscending) => (two.created_at, &one.slug).cmp(&(one.created_at, &two.slug)),
            _ => two.cmp(one),
        });
    }

    fn revision_in(&self, tables: &Tables, account: &AccountId) -> Option<Revision> {
        let revisions = if self.has(Flaw::NeverReplacesRevision) { &tables.first_revisions } else { &tables.revisions };
        revisions.get(account).copied()
    }

    fn detail(&self, course: &Course) -> CourseDetail {
        let mut detail = detail(course.clone());
        for module in &mut detail.modules {
            module.number -= u32::from(self.has(Flaw::NumbersModulesFromZero));
        }
        detail
    }
}

#[async_trait]
impl CourseStorage for Courses {
    async fn list_courses(
        &self,
        account: &AccountId,
        page: &PageRequest,
        rows: &mut CourseRows<'_>,
    ) -> Result<Option<Revision>, StorageError> {
        self.lock.begin_read()?;
        let tables = self.tables.read().unwrap();
        let mut listed: Vec<_> = tables
            .courses
            .values()
            .filter(|course| course.account == *account || self.has(Flaw::IgnoresAccountInLists))
            .filter(|course| !(course.hidden && self.has(Flaw::OmitsHidden)))
            .map(|course| (Position { created_at: course.created_at, slug: course.slug.clone() }, course))
            .filter(|(position, _)| page.after.as_ref().is_none_or(|after| self.follows(position, after)))
            .collect();
        self.sort(&mut listed);
        let count = if self.has(Flaw::OmitsExtraRow) { page.limit.get() } else { page.rows() };
        listed.truncate(count);
        let last = listed.last().filter(|_| self.has(Flaw::NextOnLastPage) && listed.len() == page.limit.get());
        for (position, course) in listed.iter().chain(last) {
            let _ = rows.push(row(course), || position.clone());
        }
        Ok(self.revision_in(&tables, account))
    }

    async fn find_course(
        &self,
        account: &AccountId,
        slug: &str,
    ) -> Result<AtRevision<Option<CourseDetail>>, StorageError> {
        self.lock.begin_read()?;
        let tables = self.tables.read().unwrap();
        let key = (account.clone(), slug.to_owned());
        let mut found = tables.courses.get(&key);
        match self.flaw {
            Some(Flaw::IgnoresAccountInDetails) => found = tables.courses.values().find(|course| course.slug == slug),
            Some(Flaw::IgnoresSlugCase) => {
                let mut own = tables.courses.values().filter(|course| course.account == *account);
                found = own.find(|course| course.slug.eq_ignore_ascii_case(slug));
            }
            Some(Flaw::ServesRemovedCourses) => found = found.or(tables.removed.get(&key)),
            Some(Flaw::ServesFirstVersion) => found = found.and(tables.first_seen.get(&key)),
            Some(Flaw::FailsForMissingCourse) if found.is_none() => {
                return Err(StorageError::new(StorageErrorKind::Other, "no such row"));
            }
            _ => {}
        }
        let value = found.map(|course| self.detail(course));
        Ok(AtRevision { value, revision: self.revision_in(&tables, account) })
    }

    async fn revision(&self, account: &AccountId) -> Result<Option<Revision>, StorageError> {
        self.lock.begin_read()?;
        Ok(self.revision_in(&self.tables.read().unwrap(), account))
    }
}
