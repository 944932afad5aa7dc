//! Paging through a list while courses are added, changed and removed.

use std::collections::{BTreeMap, BTreeSet};

use catalogue_core::Course;
use catalogue_core::storage::Position;

use crate::CourseFixture;
use crate::reading::{assert_last_page, item_of, listed, page, position};
use crate::seed::{course_at, modules, remove, seed};

/// Paging returns no course twice and skips none that existed throughout, whatever is added, changed and removed.
pub async fn paging_returns_every_remaining_course_once(fixture: &impl CourseFixture) {
    for seed in 0..8 {
        Paging::begin(fixture, seed).await.run_to_the_end(fixture).await;
    }
}

/// Generator of numbers that look random and are the same in every run: Donald Knuth's linear congruential generator.
struct Random(u64);

impl Random {
    /// Returns a number below `bound`.
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % bound
    }
}

/// Pagination through a changing list.
struct Paging {
    account: String,
    random: Random,
    /// Current content of the storage, by slug.
    courses: BTreeMap<String, Course>,
    /// Courses that have existed since the first page.
    unremoved: BTreeSet<String>,
    returned: Vec<String>,
    created: usize,
}

impl Paging {
    async fn begin(fixture: &impl CourseFixture, seed: u64) -> Self {
        let mut paging = Self {
            account: format!("paging {seed}"),
            random: Random(seed),
            courses: BTreeMap::new(),
            unremoved: BTreeSet::new(),
            returned: Vec::new(),
            created: 0,
        };
        let courses: Vec<_> = (0..40).map(|_| paging.new_course()).collect();
        paging.put(fixture, courses).await;
        paging.unremoved = paging.courses.keys().cloned().collect();
        paging
    }

    async fn run_to_the_end(mut self, fixture: &impl CourseFixture) {
        let mut after = None;
        loop {
            let limit = u8::try_from(1 + self.random.below(9)).expect("a small limit");
            let page = page(fixture, &self.account, limit, after.clone()).await;
            for item in page.items {
                let now = self.courses.get(&item.slug).map(|course| item_of(fixture, course));
                assert_eq!(Some(&item), now.as_ref(), "A page contains only courses as they are when it is read.");
                assert!(!self.returned.contains(&item.slug), "Paging never returns a course twice: {:?}.", item.slug);
                self.returned.push(item.slug);
            }
            let Some(next) = page.next else { break };
            for _ in 0..self.random.below(4) {
                self.change(fixture, &next).await;
            }
            after = Some(next);
        }
        let skipped: Vec<_> = self.unremoved.iter().filter(|slug| !self.returned.contains(slug)).collect();
        assert!(skipped.is_empty(), "Paging never skips a course that existed throughout: {skipped:?}.");
    }

    async fn change(&mut self, fixture: &impl CourseFixture, next: &Position) {
        match self.random.below(4) {
            // Removes the course after whose position the next page starts.
            0 => self.remove(fixture, &next.slug).await,
            1 => {
                let slug = self.any_slug();
                self.remove(fixture, &slug).await;
            }
            2 => {
                let slug = self.any_slug();
                if let Some(course) = self.courses.get(&slug) {
                    let title = format!("{}!", course.title);
                    let changed = Course { title, modules: modules(self.random.below(3)), ..course.clone() };
                    self.put(fixture, vec![changed]).await;
                }
            }
            _ => {
                let course = self.new_course();
                self.put(fixture, vec![course]).await;
            }
        }
    }

    /// Returns a course with a new slug, at one of a few creation times, which many courses share.
    fn new_course(&mut self) -> Course {
        self.created += 1;
        let slug = format!("{}-{}", self.random.below(100), self.created);
        course_at(&self.account, &slug, self.random.below(7) as i64 - 3)
    }

    fn any_slug(&mut self) -> String {
        let at = self.random.below(self.courses.len().max(1));
        self.courses.keys().nth(at).cloned().unwrap_or_default()
    }

    async fn put(&mut self, fixture: &impl CourseFixture, courses: Vec<Course>) {
        seed(fixture, &courses).await;
        self.courses.extend(courses.into_iter().map(|course| (course.slug.clone(), course)));
    }

    async fn remove(&mut self, fixture: &impl CourseFixture, slug: &str) {
        if self.courses.remove(slug).is_some() {
            remove(fixture, &self.account, slug).await;
            self.unremoved.remove(slug);
        }
    }
}

/// Returns a course created `second` whole seconds after the default time; every table can store these.
fn course_in(slug: &str, second: i64) -> Course {
    course_at("a", slug, second * 1_000_000)
}

/// Puts six courses, the newest last, and reads the first page of three.
async fn put_and_read_first_page(fixture: &impl CourseFixture) -> (Vec<Course>, Option<Position>) {
    let courses: Vec<_> = (0..6).map(|index| course_in(&format!("c{index}"), index)).collect();
    seed(fixture, &courses).await;
    let next = page(fixture, "a", 3, None).await.next;
    assert_eq!(next, Some(position(fixture, &courses[3])), "The next page starts after the position of the last item.");
    (courses, next)
}

/// A course added before the start of the next page is not on it.
pub async fn courses_added_before_position_are_not_returned(fixture: &impl CourseFixture) {
    let (mut courses, next) = put_and_read_first_page(fixture).await;
    courses.extend([course_in("new", 100), course_in("c30", 3), course_in("b", 4)]);
    seed(fixture, &courses[6..]).await;
    let rule = "Paging neither repeats nor skips a course if others are added before its position.";
    assert_last_page(fixture, "a", 3, next, &listed(fixture, &courses[..3]), rule).await;
}

/// A course added after the start of the next page is returned, on a further page if needed.
pub async fn courses_added_after_position_are_returned(fixture: &impl CourseFixture) {
    let (mut courses, next) = put_and_read_first_page(fixture).await;
    courses.extend([course_in("old", -100), course_in("c20", 2), course_in("a", 3)]);
    seed(fixture, &courses[6..]).await;
    let mut expected = listed(fixture, &courses);
    expected.drain(..3);
    let second = page(fixture, "a", 3, next).await;
    let rule = "A page contains the courses that were added after its start.";
    assert_eq!(second.items, expected[..3], "{rule}");
    assert_last_page(fixture, "a", 3, second.next, &expected[3..], rule).await;
}

/// Paging ends with an empty page only if all remaining courses were removed since the previous page.
pub async fn paging_ends_when_remaining_courses_are_deleted(fixture: &impl CourseFixture) {
    let (courses, next) = put_and_read_first_page(fixture).await;
    for course in &courses[..4] {
        remove(fixture, "a", &course.slug).await;
    }
    assert_last_page(fixture, "a", 3, next, &[], "Deleted courses are not listed.").await;
}
