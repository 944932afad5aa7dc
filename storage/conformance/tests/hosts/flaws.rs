//! How a host reads its courses, and the flaws that this can have.

use std::sync::{Arc, RwLock};

use catalogue_core::{
    AccountId, Course, CourseDetail, CourseListItem, CourseStorage, Module, Page, PageRequest, Position, Revision,
    StorageError, StorageErrorKind, async_trait,
};

use crate::tables::Tables;

/// What a host forgot or mixed up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    OldestFirst,
    TiesAscending,
    HiddenLeftOut,
    StartsAtThePlace,
    StartsAfterTheTime,
    NextAfterTheLast,
    OneLess,
    OwnerForgottenInLists,
    OwnerForgottenInDetails,
    SlugsRegardlessOfCase,
    ModulesFromZero,
    RemovedOnesRemembered,
    ChangesUnseen,
    AbsentOnesAnError,
    BodiesGivenAway,
    OneRevisionForEver,
    RevisionsBlindToRemovals,
}

/// The courses that the host gives to the catalogue.
#[derive(Debug)]
pub(crate) struct Courses {
    pub(crate) tables: Arc<RwLock<Tables>>,
    pub(crate) flaw: Option<Flaw>,
}

impl Courses {
    fn has(&self, flaw: Flaw) -> bool {
        self.flaw == Some(flaw)
    }

    fn follows(&self, place: &Position, after: &Position) -> bool {
        match self.flaw {
            Some(Flaw::OldestFirst) => place > after,
            Some(Flaw::StartsAtThePlace) => place <= after,
            Some(Flaw::StartsAfterTheTime) => place.created_at < after.created_at,
            Some(Flaw::TiesAscending) => (after.created_at, &place.slug) > (place.created_at, &after.slug),
            _ => place < after,
        }
    }

    fn sort(&self, rows: &mut [(Position, &Course)]) {
        rows.sort_by(|(one, _), (two, _)| match self.flaw {
            Some(Flaw::OldestFirst) => one.cmp(two),
            Some(Flaw::TiesAscending) => (two.created_at, &one.slug).cmp(&(one.created_at, &two.slug)),
            _ => two.cmp(one),
        });
    }

    fn detail(&self, course: &Course) -> CourseDetail {
        let first = if self.has(Flaw::ModulesFromZero) { 0 } else { 1 };
        let summary = |summary: &String, content: &String| match self.flaw {
            Some(Flaw::BodiesGivenAway) if summary.is_empty() => content.clone(),
            _ => summary.clone(),
        };
        let modules = (first..).zip(&course.modules).map(|(number, module)| Module {
            number,
            title: module.title.clone(),
            summary: summary(&module.summary, &module.content),
        });
        CourseDetail {
            slug: course.slug.clone(),
            title: course.title.clone(),
            tagline: course.tagline.clone(),
            language: course.language.clone(),
            published_at: course.published_at,
            hidden: course.hidden,
            access_mode: course.access_mode.clone(),
            modules: modules.collect(),
        }
    }
}

#[async_trait]
impl CourseStorage for Courses {
    async fn list_courses(
        &self,
        account: &AccountId,
        page: &PageRequest,
    ) -> Result<Page<CourseListItem>, StorageError> {
        let tables = self.tables.read().unwrap();
        let mut rows: Vec<_> = tables
            .courses
            .values()
            .filter(|course| course.account == *account || self.has(Flaw::OwnerForgottenInLists))
            .filter(|course| !(course.hidden && self.has(Flaw::HiddenLeftOut)))
            .map(|course| (Position { created_at: course.created_at, slug: course.slug.clone() }, course))
            .filter(|(place, _)| page.after.as_ref().is_none_or(|after| self.follows(place, after)))
            .collect();
        self.sort(&mut rows);
        let item = |course: &Course| CourseListItem {
            slug: course.slug.clone(),
            title: course.title.clone(),
            language: course.language.clone(),
            published_at: course.published_at,
            hidden: course.hidden,
            module_count: u32::try_from(course.modules.len()).unwrap(),
        };
        let rows = rows.into_iter().map(|(place, course)| (item(course), place.created_at));
        let last = rows.clone().next_back().map(|(item, created_at)| Position { created_at, slug: item.slug });
        let mut page = Page::from_rows(rows, page.limit);
        if self.has(Flaw::NextAfterTheLast) && !page.items.is_empty() {
            page.next = page.next.or(last);
        }
        if self.has(Flaw::OneLess) && page.items.len() > 1 {
            page.items.pop();
            let item = page.items.last().expect("one is left");
            let course = &tables.courses[&(account.clone(), item.slug.clone())];
            page.next = Some(Position { created_at: course.created_at, slug: item.slug.clone() });
        }
        Ok(page)
    }

    async fn find_course(&self, account: &AccountId, slug: &str) -> Result<Option<CourseDetail>, StorageError> {
        let tables = self.tables.read().unwrap();
        let key = (account.clone(), slug.to_owned());
        let mut found = tables.courses.get(&key);
        match self.flaw {
            Some(Flaw::OwnerForgottenInDetails) => found = tables.courses.values().find(|course| course.slug == slug),
            Some(Flaw::SlugsRegardlessOfCase) => {
                let mut own = tables.courses.values().filter(|course| course.account == *account);
                found = own.find(|course| course.slug.eq_ignore_ascii_case(slug));
            }
            Some(Flaw::RemovedOnesRemembered) => found = found.or(tables.removed.get(&key)),
            Some(Flaw::ChangesUnseen) => found = found.and(tables.first_seen.get(&key)),
            Some(Flaw::AbsentOnesAnError) if found.is_none() => {
                return Err(StorageError::new(StorageErrorKind::Other, "no such row"));
            }
            _ => {}
        }
        Ok(found.map(|course| self.detail(course)))
    }

    async fn revision(&self, account: &AccountId) -> Result<Option<Revision>, StorageError> {
        let tables = self.tables.read().unwrap();
        let revisions = if self.has(Flaw::OneRevisionForEver) { &tables.first_revisions } else { &tables.revisions };
        Ok(revisions.get(account).copied())
    }
}
