//! Changes by plain SQL that only SQLite has.

use catalogue_core::storage::CourseStorage as _;

use crate::{Sqlite, import_one_course};

#[tokio::test]
async fn replacing_course_keeps_only_its_own_modules() {
    let database = Sqlite::new().await;
    let account = import_one_course(&database.storage).await;
    let replace = "
        INSERT INTO courses (account_id, created_at, slug, title, language) VALUES ('acc', 1, 'other', 'Other', 'en');
        INSERT INTO modules (account_id, course_slug, number, title) VALUES ('acc', 'other', 1, 'Of the other');
        UPDATE OR REPLACE courses SET slug = 'course' WHERE slug = 'other';";
    database.host().execute_batch(replace).unwrap();
    let course = database.storage.find_course(&account, "course").await.unwrap().value.unwrap();
    let titles: Vec<_> = course.modules.iter().map(|module| &*module.title).collect();
    assert_eq!((&*course.title, titles), ("Other", vec!["Of the other"]));
}
