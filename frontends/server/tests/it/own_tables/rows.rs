//! Test courses, as import lines and as rows of each framework's tables.

use std::fmt::Write as _;

use serde_json::json;
use time::OffsetDateTime;

use super::app::{App, uuid};

/// Texts that collations order differently from bytes, or consider equal.
const SLUGS: [&str; 12] = ["a", "B", "b", "ä", "a\u{308}", "Z", "_", "-", "a b", "é\u{200b}", "it's", "日本"];
const SECOND: i64 = 1_000_000;
/// Microseconds of 2025-02-03T10:00:05Z since 1970.
const START: i64 = 1_738_576_805 * SECOND;

/// A course of an account.
pub(super) struct Row {
    pub(super) account: u64,
    pub(super) slug: String,
    tagline: &'static str,
    created: i64,
    published: Option<i64>,
    hidden: bool,
    access: Option<&'static str>,
    modules: Vec<(String, &'static str)>,
    /// Whether the views exclude the course.
    pub(super) deleted: bool,
}

/// Returns courses of two accounts, with equal times, different fractions of a second, and each optional field set or not.
pub(super) fn rows(app: &App) -> Vec<Row> {
    rows_of(app, [107, 15])
}

/// Returns `counts` courses of two accounts.
pub(super) fn rows_of(app: &App, counts: [usize; 2]) -> Vec<Row> {
    let mut rows = Vec::new();
    for (account, count) in (1..).zip(counts) {
        for index in 0..count {
            let slug = SLUGS.get(index).map_or_else(|| format!("course-{index}"), |slug| (*slug).to_owned());
            let index = index as i64;
            let fraction = [0, 500_000, 999_999, 0, 1, 120_000][index as usize % 6];
            let fraction = if app.framework == "laravel" { 0 } else { fraction };
            // Some courses share a time, some are from before 1970.
            let second = if index % 25 == 24 { -1 } else { START / SECOND + index / 4 };
            let row = Row {
                account,
                slug,
                tagline: ["", "\u{2028}'", "A line"][index as usize % 3],
                created: second * SECOND + fraction,
                published: (index % 2 == 0).then_some(START + fraction),
                hidden: index % 5 == 0,
                access: [None, Some("free"), Some("paid")][index as usize % 3],
                modules: (0..index % 4)
                    .map(|number| (format!("{number}. <&>"), ["", "ß"][number as usize % 2]))
                    .collect(),
                deleted: false,
            };
            if index % 10 == 3 {
                rows.push(Row { deleted: true, modules: row.modules.clone(), slug: row.slug.clone(), ..row });
            }
            rows.push(row);
        }
    }
    rows
}

/// Returns the courses as import lines.
pub(super) fn lines(app: &App, rows: &[Row]) -> String {
    let account = |number| json!({ "type": "account", "id": app.account(number) });
    let course = |row: &Row| {
        let modules: Vec<_> =
            row.modules.iter().map(|(title, summary)| json!({ "title": title, "summary": summary })).collect();
        json!({
            "type": "course", "account": app.account(row.account), "slug": row.slug, "title": format!("The {}", row.slug),
            "tagline": row.tagline, "language": "de", "createdAt": time(row.created, 'T') + "Z",
            "publishedAt": row.published.map(|published| time(published, 'T') + "Z"), "hidden": row.hidden,
            "accessMode": row.access, "modules": modules,
        })
    };
    let lines = [1, 2, 3].map(account).into_iter().chain(rows.iter().filter(|row| !row.deleted).map(course));
    lines.map(|line| format!("{line}\n")).collect()
}

/// Formats a time as the frameworks do: in UTC, with a fraction unless it is zero.
fn time(microseconds: i64, between: char) -> String {
    let time = OffsetDateTime::from_unix_timestamp(microseconds.div_euclid(SECOND)).unwrap();
    let (date, clock) = (time.date(), time.time());
    let mut text = format!("{date}{between}{:02}:{:02}:{:02}", clock.hour(), clock.minute(), clock.second());
    match microseconds.rem_euclid(SECOND) {
        0 => {}
        fraction => write!(text, ".{fraction:06}").unwrap(),
    }
    text
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Returns SQL that inserts the courses into the framework's tables.
pub(super) fn statements(app: &App, rows: &[Row]) -> String {
    let mut sql = String::from("BEGIN;\n");
    if app.is_postgres() {
        sql.push_str("SET LOCAL TIME ZONE 'UTC';\n");
    }
    for number in 1..=3 {
        let id = app.account(number);
        sql += &match app.framework {
            "django" => format!("INSERT INTO auth_user VALUES ({id}, 'u{id}', '', TRUE);\n"),
            "rails" => format!("INSERT INTO accounts VALUES ({id}, 'u', '2025-01-01', '2025-01-01');\n"),
            _ => format!("INSERT INTO users (id, name, email) VALUES ('{id}', 'u', '{id}');\n"),
        };
    }
    for (row, id) in rows.iter().zip(1000_u64..) {
        sql += &inserted(app, row, id);
    }
    sql + "COMMIT;\n"
}

fn inserted(app: &App, row: &Row, id: u64) -> String {
    let Row { hidden, deleted, .. } = *row;
    let [slug, title, tagline] = [&*row.slug, &format!("The {}", row.slug), row.tagline].map(quoted);
    let (account, created) = (app.account(row.account), quoted(&time(row.created, ' ')));
    let published = row.published.map_or("NULL".to_owned(), |published| quoted(&time(published, ' ')));
    let nullable = |text: &str| if text == "''" { "NULL".to_owned() } else { text.to_owned() };
    let deleted_at = if deleted { "'2025-12-31 00:00:00'" } else { "NULL" };
    let mut sql = match app.framework {
        "django" => format!(
            "INSERT INTO courses_course (id, owner_id, slug, title, tagline, language, created_at, published_at, is_hidden, \
             is_deleted, access) VALUES ({id}, {account}, {slug}, {title}, {tagline}, 'de', {created}, {published}, {hidden}, \
             {deleted}, {});\n",
            quoted(row.access.unwrap_or_default())
        ),
        "rails" => format!(
            "INSERT INTO courses (id, account_id, slug, title, tagline, language, created_at, published_at, hidden, \
             discarded_at, access_mode, updated_at) VALUES ({id}, {account}, {slug}, {title}, {}, 'de', {created}, \
             {published}, {hidden}, {deleted_at}, {}, {created});\n",
            nullable(&tagline),
            match row.access {
                None => "NULL",
                Some("free") => "0",
                Some(_) => "1",
            }
        ),
        _ => format!(
            "INSERT INTO courses (id, user_id, slug, title, tagline, locale, created_at, published_at, status, deleted_at, \
             access) VALUES ('{}', '{account}', {slug}, {title}, {}, 'de', {created}, {published}, '{}', {deleted_at}, {});\n",
            uuid(id),
            nullable(&tagline),
            if hidden { "hidden" } else { "public" },
            row.access.map_or("NULL".to_owned(), quoted)
        ),
    };
    // Inserts the modules in reverse order, with gaps between positions. Laravel also gets a deleted lesson for each module.
    for (number, (title, summary)) in row.modules.iter().enumerate().rev() {
        let (module, position, title, summary) = (id * 10 + number as u64, number * 2, quoted(title), quoted(summary));
        sql += &match app.framework {
            "django" => format!(
                "INSERT INTO courses_module (id, course_id, \"order\", title, summary, body) VALUES ({module}, {id}, {position}, {title}, {summary}, 'body');\n"
            ),
            "rails" => format!(
                "INSERT INTO lessons (id, title, summary, body, created_at, updated_at) VALUES ({module}, {title}, {}, 'body', \
                 {created}, {created});\nINSERT INTO course_lessons VALUES ({module}, {id}, {module}, {position});\n",
                nullable(&summary)
            ),
            _ => format!(
                "INSERT INTO lessons (id, course_id, sort_order, title, summary) VALUES ('{}', '{}', {position}, {title}, {});\n\
                 INSERT INTO lessons (id, course_id, sort_order, title, deleted_at) VALUES ('{}', '{}', {position}, 'gone', {created});\n",
                uuid(module),
                uuid(id),
                nullable(&summary),
                uuid(module + 5),
                uuid(id)
            ),
        };
    }
    sql
}
