//! What was put is what is read: texts byte by byte, times to the microsecond.

use catalogue_core::{Account, Course, CourseModule, Record, Timestamp};

use crate::Storage;
use crate::reading::{detail_of, export, find, list, listed};
use crate::seed::{account, course, instant, module, seed, time};

/// Texts that storages, encodings and quoting have been known to change.
fn texts() -> Vec<String> {
    let mut texts: Vec<String> = [
        "",
        " ",
        " both ends ",
        "'single' \"double\" `back` \\slash\\ \\n \\u0041 \\0",
        "tab\tfeed\nreturn\r\nvertical\u{b}bell\u{7}escape\u{1b}delete\u{7f}next line\u{85}",
        "\u{1}\u{2}\u{3}\u{4}\u{5}\u{6}\u{8}\u{c}\u{e}\u{f}\u{10}\u{1f}\u{80}\u{9f}",
        "\u{5e9}\u{5dc}\u{5d5}\u{5dd} \u{202b}\u{645}\u{631}\u{62d}\u{628}\u{627}\u{202c} \u{200f}abc",
        "\u{1f917} \u{1f469}\u{200d}\u{1f4bb} \u{1f1eb}\u{1f1f7} \u{10ffff} \u{e000}",
        "e\u{301} \u{e9} \u{1e9b}\u{323} \u{2126} \u{3a9} \u{fb01} n\u{303}\u{303}\u{303}",
        "\u{feff}byte order mark, replacement \u{fffd}, \u{fffe}, \u{2028}\u{2029}",
        "'; DROP TABLE courses; --",
        "%s {} $1 ?1 :title @x <b>&amp;</b> ${x} {{x}}",
        "NULL",
        "0",
        "1.0",
        "true",
        "[1,2]",
        "{\"a\":null}",
        "2026-01-02T03:04:05Z",
    ]
    .map(str::to_owned)
    .into();
    texts.push("long: \u{1f917}\u{e9}a'\"\\\n".repeat(100_000 / 16));
    texts
}

/// Every text of a course is kept byte by byte.
pub async fn texts_of_a_course_are_kept(storage: &impl Storage) {
    let texts = texts();
    let at = |index: usize| texts[index % texts.len()].clone();
    let courses: Vec<_> = (0..texts.len())
        .map(|index| Course {
            title: at(index),
            tagline: at(index + 1),
            language: at(index + 2),
            access_mode: Some(at(index + 3)),
            ..course("a", &format!("text-{index}"))
        })
        .collect();
    seed(storage, &courses).await;
    assert_eq!(list(storage, "a").await, listed(&courses), "A list shows every text as it was put.");
    for course in courses {
        let found = find(storage, "a", &course.slug).await;
        assert_eq!(found, Some(detail_of(&course)), "A course shows every text as it was put.");
    }
}

/// Every text of a module is kept byte by byte, its body included.
pub async fn texts_of_modules_are_kept(storage: &impl Storage) {
    let texts = texts();
    let modules = (0..texts.len()).map(|index| {
        let at = |index: usize| texts[index % texts.len()].clone();
        CourseModule { title: at(index), summary: at(index + 1), content: at(index + 2) }
    });
    let course = Course { modules: modules.collect(), ..course("a", "modules") };
    seed(storage, [&course]).await;
    let found = find(storage, "a", "modules").await;
    assert_eq!(found, Some(detail_of(&course)), "A module's header shows every text as it was put.");
    let exported = export(storage).await;
    assert_eq!(
        exported,
        [Record::Account(account("a")), Record::Course(course)],
        "An export shows every text as it was put, modules' bodies included."
    );
}

/// Every text of an account is kept byte by byte.
pub async fn texts_of_an_account_are_kept(storage: &impl Storage) {
    let texts = texts();
    let mut import = storage.begin_import().await.expect("an import begins while no other runs");
    let mut expected = Vec::new();
    for (index, text) in texts.iter().enumerate() {
        let email = texts[(index + 1) % texts.len()].clone();
        let account = Account { name: text.clone(), email, ..account(&format!("account {index:03}")) };
        import.put_account(&account).await.expect("an account can be put");
        expected.push(Record::Account(account));
    }
    import.commit().await.expect("an import can be committed");
    assert_eq!(export(storage).await, expected, "An export shows an account's name and email as they were put.");
}

/// What is absent is not what is empty.
pub async fn absent_and_empty_differ(storage: &impl Storage) {
    let absent = Course { access_mode: None, ..course("a", "absent") };
    let empty = Course { access_mode: Some(String::new()), ..course("a", "empty") };
    seed(storage, [&absent, &empty]).await;
    for course in [absent, empty] {
        let found = find(storage, "a", &course.slug).await;
        assert_eq!(found, Some(detail_of(&course)), "An absent access mode is None, an empty one is empty.");
    }
}

/// Both times of a course are kept to the microsecond, before 1970 and at both ends of what a timestamp can be.
pub async fn times_are_kept_to_the_microsecond(storage: &impl Storage) {
    let times = [
        Timestamp::MIN,
        instant(Timestamp::MIN.as_microseconds() + 1),
        instant(-62_135_596_800_000_001), // the last microsecond before the year 1
        instant(-1_000_001),
        instant(-1),
        instant(0),
        instant(1),
        time(999_999),
        time(123_456),
        instant(i64::from(u32::MAX) * 1_000_000 + 1),
        instant((1 << 53) + 1), // the first number of microseconds that is no double
        instant(Timestamp::MAX.as_microseconds() - 1),
        Timestamp::MAX,
    ];
    let courses: Vec<_> = times
        .into_iter()
        .enumerate()
        .map(|(index, time)| Course {
            created_at: time,
            published_at: Some(times[(index + 5) % times.len()]),
            modules: vec![module("m")],
            ..course("a", &format!("time-{index:02}"))
        })
        .collect();
    seed(storage, &courses).await;
    assert_eq!(list(storage, "a").await, listed(&courses), "Times are kept to the microsecond.");
    for course in &courses {
        let found = find(storage, "a", &course.slug).await;
        assert_eq!(found, Some(detail_of(course)), "Times are kept to the microsecond.");
    }
    let exported: Vec<_> = export(storage).await.into_iter().skip(1).collect();
    let courses: Vec<_> = courses.into_iter().map(Record::Course).collect();
    assert_eq!(exported, courses, "Creation times are kept to the microsecond.");
}
