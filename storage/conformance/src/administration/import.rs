//! Results of an import for each account and course, and the stored data afterwards.

use catalogue_core::admin::{Account, Change, Import, Record};
use catalogue_core::storage::StorageErrorKind;
use catalogue_core::{Course, Timestamp};

use crate::Storage;
use crate::reading::{assert_found, export, slugs};
use crate::seed::{account, begin, course, course_at, id, seed, seed_accounts, time};
use crate::variants::{variants, whole_course};

/// Puts one course in a separate import.
async fn put(storage: &impl Storage, course: &Course) -> Change {
    let mut import = begin(storage).await;
    let change = import.put_course(course).await.expect("a course of a known account can be put");
    import.commit().await.expect("an import can be committed");
    change
}

async fn put_account(import: &mut dyn Import, account: &Account) -> Change {
    import.put_account(account).await.expect("an account can be put")
}

/// An account is added, changed in its name or email, or unchanged; put again in one import, it is repeated.
pub async fn putting_account_returns_its_change(storage: &impl Storage) {
    let plain = account("a");
    let named = Account { name: "Name".to_owned(), ..plain.clone() };
    let mailed = Account { email: "a@example.org".to_owned(), ..named.clone() };
    let recased = Account { name: "NAME".to_owned(), ..mailed.clone() };
    for (account, expected) in [
        (&plain, Change::Added),
        (&plain, Change::Unchanged),
        (&named, Change::Changed),
        (&named, Change::Unchanged),
        (&mailed, Change::Changed),
        (&recased, Change::Changed),
        (&plain, Change::Changed),
    ] {
        let mut import = begin(storage).await;
        let change = put_account(&mut *import, account).await;
        assert_eq!(change, expected, "Putting an account returns whether it was added, changed or unchanged.");
        let again = put_account(&mut *import, &recased).await;
        assert_eq!(again, Change::Repeated, "An account that an import puts twice is repeated.");
        import.commit().await.expect("an import can be committed");
        let expected = [Record::Account(account.clone())];
        assert_eq!(export(storage).await, expected, "An account is stored as it was put first, and nothing else is.");
    }
}

/// A difference in any field, including modules' bodies and order, is detected and stored.
pub async fn every_difference_is_reported_as_change(storage: &impl Storage) {
    let first = whole_course("a", "c");
    for (what, changed) in variants(storage, &first) {
        seed(storage, [&first]).await;
        assert_eq!(put(storage, &changed).await, Change::Changed, "A course is changed by {what}.");
        assert_found(storage, &changed, &format!("A change of {what} is stored.")).await;
        assert_eq!(put(storage, &changed).await, Change::Unchanged, "A stored change of {what} is unchanged.");
        let exported = export(storage).await;
        assert_eq!(exported.last(), Some(&Record::Course(changed)), "A change of {what} is stored.");
    }
}

/// A course that one import puts twice is repeated, whatever its content, and stays as it was put first.
pub async fn course_put_twice_is_repeated(storage: &impl Storage) {
    seed(storage, &[whole_course("a", "there")]).await;
    let mut import = begin(storage).await;
    put_account(&mut *import, &account("b")).await;
    let first = [("a", "there"), ("a", "new"), ("a", "There"), ("b", "there")];
    let first = first.map(|(account, slug)| whole_course(account, slug));
    for (course, expected) in first.iter().zip([Change::Unchanged, Change::Added, Change::Added, Change::Added]) {
        assert_eq!(import.put_course(course).await.ok(), Some(expected), "Courses are identified by account and slug.");
    }
    for course in &first {
        for again in [course.clone(), Course { title: "Again".to_owned(), modules: vec![], ..course.clone() }] {
            let change = import.put_course(&again).await.ok();
            assert_eq!(change, Some(Change::Repeated), "A course that an import puts twice is repeated.");
        }
    }
    import.commit().await.expect("an import can be committed");
    for course in first {
        assert_found(storage, &course, "A repeated course stays as it was put first.").await;
    }
}

/// A course of an unknown account is refused as an unknown reference, unless the same import has put the account.
pub async fn course_of_unknown_account_is_refused(storage: &impl Storage) {
    seed(storage, &[course("known", "c")]).await;
    for unknown in ["unknown", "", "Known", "known "] {
        let mut import = begin(storage).await;
        let refused = import.put_course(&course(unknown, "new")).await.map_err(|error| error.kind());
        let expected = Err(StorageErrorKind::UnknownReference);
        assert_eq!(refused, expected, "A course of an unknown account is refused as UnknownReference.");
        drop(import);
        assert_eq!(slugs(storage, unknown).await, [""; 0], "A refused course is not stored.");
    }
    let mut import = begin(storage).await;
    put_account(&mut *import, &account("unknown")).await;
    let change = import.put_course(&course("unknown", "new")).await.map_err(|error| error.kind());
    assert_eq!(change, Ok(Change::Added), "A course can be put after its account in the same import.");
    import.commit().await.expect("an import can be committed");
    assert_eq!(slugs(storage, "unknown").await, ["new"], "A course can be put after its account in the same import.");
}

/// The creation time of a course is the one that a commit of the import would store now.
pub async fn creation_time_reflects_uncommitted_import(storage: &impl Storage) {
    let created = |microseconds| Course { created_at: time(microseconds), ..whole_course("a", "c") };
    seed(storage, &[created(123_456), course_at("b", "other", 5)]).await;
    let mut import = begin(storage).await;
    for (account, slug, expected) in [
        ("a", "c", Some(time(123_456))),
        ("a", "C", None),
        ("a", "other", None),
        ("b", "c", None),
        ("b", "other", Some(time(5))),
        ("unknown", "c", None),
    ] {
        let result = import.creation_time(&id(account), slug).await.expect("a creation time can be read");
        assert_eq!(result, expected, "The creation time is the course's, or None: {slug} of {account}.");
    }
    for course in [created(7), Course { created_at: Timestamp::MIN, ..course("a", "new") }] {
        import.put_course(&course).await.expect("a course of a known account can be put");
        let result = import.creation_time(&id("a"), &course.slug).await.expect("a creation time can be read");
        assert_eq!(result, Some(course.created_at), "The creation time is the one that the same import has put.");
    }
}

/// A course with an invalid slug is refused as an invalid value: it could be listed but never read.
pub async fn course_with_invalid_slug_is_refused(storage: &impl Storage) {
    seed_accounts(storage, &["a"]).await;
    for slug in ["", "a/b", "/", "a\0b", "a\n", &"x".repeat(201)] {
        let mut import = begin(storage).await;
        let refused = import.put_course(&course("a", slug)).await.map_err(|error| error.kind());
        let expected = Err(StorageErrorKind::InvalidValue);
        assert_eq!(refused, expected, "A course with an invalid slug is refused as InvalidValue: {slug:?}.");
    }
}

/// Records put in one call are put in order, as in separate calls: each gets its own result or error, and an error does not
/// affect the others.
pub async fn batched_records_are_put_in_order(storage: &impl Storage) {
    seed(storage, &[whole_course("a", "there"), whole_course("a", "changed"), course("b", "c")]).await;
    let changed = Course { title: "Changed".to_owned(), modules: vec![], ..whole_course("a", "changed") };
    let renamed = Account { name: "Renamed".to_owned(), ..account("b") };
    let (whole, of_new) = (whole_course("b", "new"), course("new", "c"));
    let puts = [
        (Record::Course(course("new", "too early")), Err(StorageErrorKind::UnknownReference)),
        (Record::Course(whole_course("a", "there")), Ok(Change::Unchanged)),
        (Record::Course(changed.clone()), Ok(Change::Changed)),
        (Record::Account(renamed.clone()), Ok(Change::Changed)),
        (Record::Account(account("new")), Ok(Change::Added)),
        (Record::Course(of_new.clone()), Ok(Change::Added)),
        (Record::Course(Course { title: "Again".to_owned(), ..of_new.clone() }), Ok(Change::Repeated)),
        (Record::Course(whole.clone()), Ok(Change::Added)),
        (Record::Course(course("a", "a/b")), Err(StorageErrorKind::InvalidValue)),
        (Record::Account(Account { name: "Again".to_owned(), ..account("new") }), Ok(Change::Repeated)),
        (Record::Account(account("a")), Ok(Change::Unchanged)),
        (Record::Course(course("unknown", "c")), Err(StorageErrorKind::UnknownReference)),
    ];
    let (records, expected): (Vec<_>, Vec<_>) = puts.into_iter().unzip();
    let mut import = begin(storage).await;
    let outcomes = import.put_all(&records).await.expect("a batch can be put");
    let outcomes: Vec<_> = outcomes.into_iter().map(|outcome| outcome.map_err(|error| error.kind())).collect();
    assert_eq!(outcomes, expected, "A record in a batch has the same result as one in a separate call.");
    let none = import.put_all(&[]).await.expect("an empty batch can be put");
    assert!(none.is_empty(), "An empty batch has no results.");
    let keys = [(id("a"), "there"), (id("new"), "c"), (id("new"), "too early"), (id("unknown"), "c"), (id("b"), "new")];
    let times = import.creation_times(&keys).await.expect("creation times can be read");
    let expected = [Some(whole_course("a", "there")), Some(of_new.clone()), None, None, Some(whole.clone())];
    let expected = expected.map(|course| course.map(|course| course.created_at));
    assert_eq!(times, expected, "Creation times are returned in the order of the requested courses.");
    import.commit().await.expect("an import can be committed");
    let mut expected: Vec<_> = [account("a"), renamed, account("new")].map(Record::Account).into();
    expected.extend([changed, whole_course("a", "there"), course("b", "c"), whole, of_new].map(Record::Course));
    assert_eq!(export(storage).await, expected, "Records in a batch are stored as they were put.");
}
