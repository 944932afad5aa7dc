//! Paging through a list while courses are added, changed and removed.

use std::collections::BTreeMap;

use catalogue_core::Course;
use catalogue_core::storage::Position;

use crate::CourseFixture;
use crate::reading::{listed, page, position};
use crate::seed::{course_at, modules, remove, seed, time};

/// Each page contains exactly the courses that follow its start position when it is read, whatever was added, changed and
/// removed since the previous page. So paging returns no course twice, and skips none that existed throughout.
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
    created: usize,
}

impl Paging {
    async fn begin(fixture: &impl CourseFixture, seed: u64) -> Self {
        let account = format!("paging {seed}");
        let mut paging = Self { account, random: Random(seed), courses: BTreeMap::new(), created: 0 };
        let courses: Vec<_> = (0..40).map(|_| paging.new_course()).collect();
        paging.put(fixture, courses).await;
        paging
    }

    async fn run_to_the_end(mut self, fixture: &impl CourseFixture) {
        let mut after: Option<Position> = None;
        loop {
            let limit = 1 + self.random.below(9);
            let page = page(fixture, &self.account, u8::try_from(limit).expect("a small limit"), after.clone()).await;
            let follows = |course: &&Course| after.as_ref().is_none_or(|after| position(fixture, course) < *after);
            let mut expected = listed(fixture, self.courses.values().filter(follows));
            let last = expected.get(limit - 1).filter(|_| expected.len() > limit);
            let next = last.map(|last| position(fixture, &self.courses[&last.slug]));
            expected.truncate(limit);
            let rule = "A page contains exactly the courses that follow its start position when it is read.";
            assert_eq!(page.items, expected, "{rule}");
            let rule = "The next page starts after the position of the last item: its creation time and its slug.";
            assert_eq!(page.next, next, "{rule}");
            let Some(next) = page.next else { break };
            for _ in 0..self.random.below(4) {
                self.change(fixture, &next).await;
            }
            after = Some(next);
        }
    }

    async fn change(&mut self, fixture: &impl CourseFixture, next: &Position) {
        // Often changes the course after whose position the next page starts.
        let slug = if self.random.below(2) == 0 { next.slug.clone() } else { self.any_slug() };
        match (self.random.below(4), self.courses.get(&slug).cloned()) {
            (0, Some(course)) => {
                remove(fixture, &self.account, &course.slug).await;
                self.courses.remove(&slug);
            }
            (1, Some(course)) => {
                let title = format!("{}!", course.title);
                let changed = Course { title, modules: modules(self.random.below(3)), ..course };
                self.put(fixture, vec![changed]).await;
            }
            (2, Some(course)) => {
                let moved = Course { created_at: time((self.random.below(7) as i64 - 3) * 1_000_000), ..course };
                self.put(fixture, vec![moved]).await;
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
        course_at(&self.account, &slug, (self.random.below(7) as i64 - 3) * 1_000_000 + 1)
    }

    fn any_slug(&mut self) -> String {
        let at = self.random.below(self.courses.len().max(1));
        self.courses.keys().nth(at).cloned().unwrap_or_default()
    }

    async fn put(&mut self, fixture: &impl CourseFixture, courses: Vec<Course>) {
        seed(fixture, &courses).await;
        self.courses.extend(courses.into_iter().map(|course| (course.slug.clone(), course)));
    }
}
