//! Reads at the same time, reads beside writes, and reads that are given up.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Waker};
use std::thread::JoinHandle;

use catalogue_core::{Course, CourseListItem, CourseModule, Module, PageRequest};

use crate::Storage;
use crate::reading::{detail_of, find, item_of, list, listed};
use crate::seed::{api_key, course, course_at, create, digest, id, module, modules, seed};
use crate::threads::{joined, on_a_thread, on_threads};

/// More than a pool of connections is likely to have.
const MANY: usize = 300;

/// Courses of two accounts that share slugs, and a credential.
async fn seed_some(storage: &impl Storage) -> Vec<Course> {
    let of = |account: &'static str, count| {
        (0..12).map(move |index| Course {
            title: format!("{account} {index}"),
            modules: modules(count),
            ..course_at(account, &format!("c{index}"), index)
        })
    };
    let courses: Vec<_> = of("a", 1).chain(of("b", 2)).collect();
    seed(storage, &courses).await;
    create(storage, &api_key("a", "key_1", "token-1")).await;
    courses
}

async fn assert_answers(storage: &impl Storage, courses: &[Course]) {
    let (a, b) = courses.split_at(12);
    assert_eq!(list(storage, "a").await, listed(a), "Calls may run at the same time, and each has its own answer.");
    assert_eq!(list(storage, "b").await, listed(b), "Calls may run at the same time, and each has its own answer.");
    for course in [&a[3], &b[3], &b[7]] {
        let found = find(storage, course.account.as_str(), &course.slug).await;
        assert_eq!(found, Some(detail_of(course)), "Calls may run at the same time, and each has its own answer.");
    }
    let found = storage.find_credential(&digest("token-1")).await.ok().flatten();
    let id = found.map(|credential| credential.identity.credential_id);
    assert_eq!(id.as_deref(), Some("key_1"), "Calls may run at the same time, and each has its own answer.");
}

/// Reads on several threads at once all have the answers that they have alone.
pub async fn reads_on_several_threads_have_their_own_answers(storage: &Arc<impl Storage>) {
    let courses = seed_some(storage).await;
    let storage = Arc::clone(storage);
    on_threads(4, move |_| {
        let (storage, courses) = (Arc::clone(&storage), courses.clone());
        async move {
            for _ in 0..15 {
                assert_answers(&storage, &courses).await;
            }
        }
    })
    .await;
}

/// Many reads under way on one thread all come to their end, with the answers that they have alone.
pub async fn many_reads_on_one_thread_have_their_own_answers(storage: &Arc<impl Storage>) {
    let courses = seed_some(storage).await;
    let reads: Vec<_> = (0..MANY)
        .map(|index| {
            let (storage, course) = (Arc::clone(storage), courses[index % courses.len()].clone());
            tokio::spawn(async move {
                let found = find(&storage, course.account.as_str(), &course.slug).await;
                found == Some(detail_of(&course))
                    && list(&storage, course.account.as_str()).await.contains(&item_of(&course))
            })
        })
        .collect();
    for read in reads {
        let right = read.await.is_ok_and(|right| right);
        assert!(right, "Calls may run at the same time, and each has its own answer.");
    }
}

/// A read that is dropped before its end, or before its beginning, does no harm to those after it.
pub async fn a_dropped_read_does_no_harm(storage: &impl Storage) {
    let courses = seed_some(storage).await;
    let (account, request, digest) = (id("a"), PageRequest::default(), digest("token-1"));
    for index in 0..MANY {
        let polls = index % 3;
        give_up(storage.list_courses(&account, &request), polls);
        give_up(storage.find_course(&account, "c3"), polls);
        give_up(storage.revision(&account), polls);
        give_up(storage.find_credential(&digest), polls);
    }
    let answer = storage.list_courses(&account, &request).await;
    assert!(answer.is_ok(), "Calls may be dropped before they finish, and those after them answer: {answer:?}.");
    assert_answers(storage, &courses).await;
    let added = course("c", "added");
    seed(storage, [&added]).await;
    let found = find(storage, "c", "added").await;
    assert_eq!(found, Some(detail_of(&added)), "A dropped read does not stand in the way of a write.");
}

/// Polls a future so often at most, and drops it.
fn give_up<F: Future>(future: F, polls: usize) {
    let mut future = pin!(future);
    for _ in 0..polls {
        if future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
            break;
        }
    }
}

/// A read sees every change that was committed before it began, on whatever thread.
pub async fn a_read_sees_every_change_before_it(storage: &Arc<impl Storage>) {
    seed_some(storage).await;
    for round in 0..10 {
        let now = Course { title: format!("Round {round}"), modules: modules(round % 3), ..course("fresh", "c") };
        seed(storage, [&now]).await;
        let shared = Arc::clone(storage);
        let answers = on_threads(3, move |_| {
            let storage = Arc::clone(&shared);
            async move { (list(&storage, "fresh").await, find(&storage, "fresh", "c").await) }
        });
        for answer in answers.await {
            let expected = (listed(std::slice::from_ref(&now)), Some(detail_of(&now)));
            assert_eq!(answer, expected, "A read sees everything that was committed before it began.");
        }
        assert_eq!(find(storage, "fresh", "c").await, Some(detail_of(&now)), "A read sees everything before it.");
    }
}

/// A call sees one state of the data: all of an import or nothing, never some of its courses or modules.
pub async fn a_call_sees_one_state(storage: &Arc<impl Storage>) {
    seed(storage, &generation(0)).await;
    let (reads, done) = (Arc::new(AtomicUsize::new(0)), Until::default());
    let reader = |_| {
        let (storage, reads, done) = (Arc::clone(storage), Arc::clone(&reads), Arc::clone(&done.0));
        on_a_thread(move || async move {
            while !done.load(Ordering::Acquire) {
                assert_one_generation(&storage).await;
                reads.fetch_add(1, Ordering::AcqRel);
            }
        })
    };
    let readers: Vec<_> = (0..2).map(reader).collect();
    for number in 1..=400 {
        let enough = number > 20 && reads.load(Ordering::Acquire) > 40;
        if enough || readers.iter().any(JoinHandle::is_finished) {
            break;
        }
        seed(storage, &generation(number)).await;
    }
    drop(done);
    for reader in readers {
        joined(reader).await;
    }
}

/// Courses that say in each of their parts which import has put them.
fn generation(number: usize) -> Vec<Course> {
    let name = number.to_string();
    let module = CourseModule { summary: name.clone(), ..module(&name) };
    let modules = vec![module; number % 4];
    let course = |slug| Course {
        title: name.clone(),
        language: modules.len().to_string(),
        modules: modules.clone(),
        ..course("a", slug)
    };
    ["1", "2", "3", "4", "5", "6"].map(course).into()
}

async fn assert_one_generation(storage: &impl Storage) {
    let list = list(storage, "a").await;
    let same = |item: &CourseListItem| item.title == list[0].title && item.language == item.module_count.to_string();
    assert!(list.len() == 6 && list.iter().all(same), "A list shows one state of the data: {list:?}.");
    let course = find(storage, "a", "4").await.expect("the course is there throughout");
    let same = |module: &Module| module.title == course.title && module.summary == course.title;
    let whole = course.language == course.modules.len().to_string() && course.modules.iter().all(same);
    assert!(whole, "A course and its modules are of one state: {course:?}.");
}

/// Says at its end that the readers may stop, also where the writer panics.
#[derive(Default)]
struct Until(Arc<AtomicBool>);

impl Drop for Until {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}
