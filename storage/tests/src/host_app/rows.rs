//! Courses as rows of a host application's tables.

use catalogue_core::{AccountId, Course, CourseModule};

use super::HostApp;

/// Returns SQL that writes a course with its owner and modules, and replaces the one with its slug.
pub(super) fn put(app: &impl HostApp, course: &Course) -> String {
    let Course { account, slug, title, tagline, language, created_at, published_at, hidden, access_mode, modules } =
        course;
    let owner = app.owner(account);
    let [slug_text, title, tagline, language] = [slug, title, tagline, language].map(|text| app.text(text));
    let [made_at, live_at] = app.times(*created_at, *published_at);
    let access = access_mode.as_ref().map_or("NULL".to_owned(), |access| app.text(access));
    let mut sql = app.insert_owner(account) + &remove(app, account, slug);
    sql += &format!(
        "INSERT INTO trainings (owner, handle, name, subtitle, lang, made_at, live_at, is_hidden, access)
         VALUES ({owner}, {slug_text}, {title}, {tagline}, {language}, {made_at}, {live_at}, {hidden}, {access});"
    );
    for (place, module) in (1..).zip(modules) {
        let [title, summary] = [&module.title, &module.summary].map(|text| app.text(text));
        sql += &format!(
            "INSERT INTO lessons (training, place, name, summary)
             SELECT id, {place}, {title}, {summary} FROM trainings WHERE owner = {owner} AND handle = {slug_text};"
        );
    }
    sql
}

/// Returns SQL that removes a course and its modules.
pub(super) fn remove(app: &impl HostApp, account: &AccountId, slug: &str) -> String {
    let which = format!("owner = {} AND handle = {}", app.owner(account), app.text(slug));
    format!(
        "DELETE FROM lessons WHERE training IN (SELECT id FROM trainings WHERE {which});
         DELETE FROM trainings WHERE {which};"
    )
}

/// Returns SQL that adds, changes or removes module `number` of a course, without a write to its training.
pub(super) fn put_module(
    app: &impl HostApp,
    account: &AccountId,
    slug: &str,
    number: u32,
    module: Option<&CourseModule>,
) -> String {
    let training =
        format!("(SELECT id FROM trainings WHERE owner = {} AND handle = {})", app.owner(account), app.text(slug));
    let which = format!("training = {training} AND place = {number}");
    let Some(module) = module else { return format!("DELETE FROM lessons WHERE {which};") };
    let [title, summary] = [&module.title, &module.summary].map(|text| app.text(text));
    format!(
        "UPDATE lessons SET name = {title}, summary = {summary} WHERE {which};
         INSERT INTO lessons (training, place, name, summary) SELECT {training}, {number}, {title}, {summary}
         WHERE NOT EXISTS (SELECT 1 FROM lessons WHERE {which});"
    )
}
