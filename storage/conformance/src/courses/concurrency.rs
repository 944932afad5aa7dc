//! Concurrent reads, reads during writes, and reads dropped early.

use catalogue_core::Course;
use catalogue_core::storage::{CourseStorage, PageRequest};

use crate::CourseFixture;
use crate::concurrency::{on_threads, poll_then_drop, read_during_writes, run_all};
use crate::reading::{assert_found, assert_listed, detail_of, find, item_of, list, listed, read_page};
use crate::seed::{course, course_at, module, modules, seed};

/// Number of concurrent reads, and of rounds of dropped reads: more than a connection pool is likely to have connections.
const CONCURRENT_READS: usize = 300;

/// Puts courses of two accounts that share slugs.
async fn seed_some(fixture: &impl CourseFixture) -> Vec<Course> {
    let of = |account: &'static str, count| {
        (0..12).map(move |index| Course {
            title: format!("{account} {index}"),
            modules: modules(count),
            ..course_at(account, &format!("c{index}"), index)
        })
    };
    let courses: Vec<_> = of("a", 1).chain(of("b", 2)).collect();
    seed(fixture, &courses).await;
    courses
}

async fn assert_results(fixture: &impl CourseFixture, courses: &[Course]) {
    let (a, b) = courses.split_at(12);
    for (account, courses) in [("a", a), ("b", b)] {
        assert_listed(fixture, account, courses, "Concurrent calls each return their own result.").await;
    }
    for course in [&a[3], &b[3], &b[7]] {
        assert_found(fixture, course, "Concurrent calls each return their own result.").await;
    }
}

/// Concurrent reads on several threads return the same results as single reads.
pub async fn concurrent_reads_on_several_threads_return_own_results(fixture: &impl CourseFixture) {
    let courses = seed_some(fixture).await;
    on_threads(4, async |_| {
        for _ in 0..15 {
            assert_results(fixture, &courses).await;
        }
    });
}

/// Many concurrent reads on one thread all finish, with the same results as single reads.
pub async fn concurrent_reads_on_one_thread_return_own_results(fixture: &impl CourseFixture) {
    let courses = seed_some(fixture).await;
    let read = async |course: &Course| {
        let account = fixture.account(course.account.as_str()).await;
        let list = read_page(fixture.storage(), &account, &PageRequest::default()).await;
        let found = fixture.storage().find_course(&account, &course.slug).await;
        let listed = list.is_ok_and(|page| page.items.contains(&item_of(fixture, course)));
        let matches = listed && found.is_ok_and(|found| found.value == Some(detail_of(fixture, course)));
        assert!(matches, "Concurrent calls each return their own result.");
    };
    run_all(courses.iter().cycle().take(CONCURRENT_READS).map(read)).await;
}

/// A read that is dropped before its end, or before its first poll, does not affect later ones.
pub async fn dropped_read_does_not_affect_later_calls(fixture: &impl CourseFixture) {
    let courses = seed_some(fixture).await;
    let (storage, account, request) = (fixture.storage(), fixture.account("a").await, PageRequest::default());
    for index in 0..CONCURRENT_READS {
        let polls = index % 3;
        poll_then_drop(read_page(storage, &account, &request), polls);
        poll_then_drop(storage.find_course(&account, "c3"), polls);
        poll_then_drop(storage.revision(&account), polls);
    }
    let result = read_page(storage, &account, &request).await;
    assert!(result.is_ok(), "Calls succeed after others were dropped before they finished: {result:?}.");
    assert_results(fixture, &courses).await;
    let added = course("c", "added");
    seed(fixture, [&added]).await;
    assert_found(fixture, &added, "A dropped read does not block a write.").await;
}

/// A read sees every change that was committed before it began, on any thread.
pub async fn read_returns_all_changes_committed_before_it(fixture: &impl CourseFixture) {
    seed_some(fixture).await;
    for round in 0..10 {
        let now = Course { title: format!("Round {round}"), modules: modules(round % 3), ..course("fresh", "c") };
        seed(fixture, [&now]).await;
        let expected = (listed(fixture, [&now]), Some(detail_of(fixture, &now)));
        let read = async |_| (list(fixture, "fresh").await, find(fixture, "fresh", "c").await);
        for result in on_threads(3, read) {
            assert_eq!(result, expected, "A read sees everything that was committed before it began.");
        }
        assert_eq!(read(0).await, expected, "A read sees everything that was committed before it began.");
    }
}

/// A call sees each course as a single write left it, and if it sees a write, it also sees all earlier ones.
pub async fn call_returns_one_consistent_state(fixture: &impl CourseFixture) {
    let read = async || {
        let numbers = write_numbers_of_read(fixture).await;
        let in_order = numbers.is_sorted_by(|one, two| one >= two) && numbers[0] <= numbers[5] + 1;
        assert!(
            in_order,
            "A list is one state of the data, and no write is visible without all earlier ones: {numbers:?}."
        );
    };
    let write = async |number| {
        for course in &generation(number) {
            seed(fixture, [course]).await;
        }
    };
    read_during_writes(read, write).await;
}

/// Returns the courses of write `number`, in the order in which they are written. Titles and modules depend on the number.
pub(crate) fn generation(number: usize) -> [Course; 6] {
    let modules: Vec<_> = (0..number % 4).map(|index| module(&format!("{number}.{index}"))).collect();
    ["1", "2", "3", "4", "5", "6"].map(|slug| Course {
        title: number.to_string(),
        modules: modules.clone(),
        ..course("a", slug)
    })
}

/// Reads the list and one course. Returns the number of the write that each listed course comes from.
pub(crate) async fn write_numbers_of_read(fixture: &impl CourseFixture) -> Vec<usize> {
    let mut list = list(fixture, "a").await;
    list.reverse();
    let numbers: Vec<usize> = list.iter().filter_map(|item| item.title.parse().ok()).collect();
    let expected = numbers.iter().enumerate().map(|(index, number)| item_of(fixture, &generation(*number)[index]));
    assert!(
        numbers.len() == 6 && expected.eq(list.iter().cloned()),
        "A list is one state of the data, each course as one write left it: {list:?}."
    );
    let course = find(fixture, "a", "4").await.expect("the course exists throughout");
    let number = course.title.parse().expect("a number");
    let expected = detail_of(fixture, &generation(number)[3]);
    assert_eq!(course, expected, "A course and its modules are of one state.");
    numbers
}
