//! Flaws of single courses: of their lookup, their stored and exported fields, and their removal.

use std::ops::ControlFlow;

use catalogue_core::admin::Record;
use catalogue_core::{Course, CourseDetail, Timestamp};

use crate::broken::{Broken, courses, find, records, remove, run};
use crate::flaws;
use crate::imports::BrokenImport;

/// Finds courses by another comparison of slugs.
fn matching_slugs(same: impl Fn(&str, &str) -> bool + Send + Sync + 'static) -> Broken {
    Broken::new().find(move |memory, account, slug| {
        let mut own = courses(memory).into_iter().filter(|course| course.account == *account);
        let found = own.find(|course| same(&course.slug, slug))?;
        find(memory, account, &found.slug)
    })
}

/// Alters each course that is found.
fn altering_detail(alter: impl Fn(&mut CourseDetail) + Send + Sync + 'static) -> Broken {
    Broken::new().find(move |memory, account, slug| {
        let mut found = find(memory, account, slug)?;
        alter(&mut found);
        Some(found)
    })
}

/// Alters each course before it is stored.
fn altering_stored(alter: impl Fn(&mut Course) + Clone + Send + Sync + 'static) -> Broken {
    Broken::new().begin(move |memory| {
        let alter = alter.clone();
        let import = BrokenImport::over(memory)?.put_course(move |inner, course| {
            let mut course = course.clone();
            alter(&mut course);
            run(inner.put_course(&course))
        });
        Ok(import.boxed())
    })
}

/// Finds courses in any account; the requested account comes first or last.
fn finding_in_any_account(own_first: bool) -> Broken {
    Broken::new().find(move |memory, account, slug| {
        let mut all: Vec<_> = courses(memory).into_iter().filter(|course| course.slug == slug).collect();
        all.sort_by_key(|course| (course.account == *account) != own_first);
        let found = all.first()?;
        find(memory, &found.account, slug)
    })
}

/// Renumbers modules in their present order.
fn renumber(course: &mut CourseDetail) {
    for (number, module) in (1..).zip(&mut course.modules) {
        module.number = number;
    }
}

fn via_double(time: Timestamp) -> Timestamp {
    let seconds = time.as_microseconds() as f64 / 1e6;
    Timestamp::from_microseconds((seconds * 1e6) as i64).unwrap_or(time)
}

flaws! {
    course_is_found_by_slug_prefix: matching_slugs(|slug, requested| slug.starts_with(requested))
        => courses::detail::missing_course_returns_none, "nonexistent course returns None";
    course_without_modules_is_not_found: Broken::new().find(|memory, account, slug| {
        find(memory, account, slug).filter(|course| !course.modules.is_empty())
    }) => courses::detail::unpublished_hidden_and_empty_courses_are_found, "without modules is found";
    hidden_course_is_not_found: Broken::new().find(|memory, account, slug| {
        find(memory, account, slug).filter(|course| !course.hidden)
    }) => courses::detail::unpublished_hidden_and_empty_courses_are_found, "A hidden course is found";
    equal_modules_are_merged: altering_detail(|course| {
        let mut titles = Vec::new();
        course.modules.retain(|module| !titles.contains(&module.title) && { titles.push(module.title.clone()); true });
        renumber(course);
    }) => courses::detail::equal_modules_are_all_stored, "Equal modules are all stored";
    modules_are_ordered_by_title: altering_detail(|course| {
        course.modules.sort_by(|one, two| one.title.cmp(&two.title));
        renumber(course);
    }) => courses::detail::modules_are_ordered_and_numbered_from_one, "in their order";
    modules_are_numbered_from_zero: altering_detail(|course| course.modules.iter_mut().for_each(|module| module.number -= 1))
        => courses::detail::modules_are_ordered_and_numbered_from_one, "numbered from 1";
    modules_are_ordered_by_decimal_text: altering_detail(|course| {
        course.modules.sort_by_key(|module| module.number.to_string());
    }) => courses::detail::modules_are_ordered_and_numbered_from_one, "numbered from 1";
    slugs_are_case_insensitive: matching_slugs(|slug, requested| slug.to_lowercase() == requested.to_lowercase())
        => courses::detail::slugs_are_compared_by_bytes, "byte by byte";
    slugs_ignore_trailing_spaces: matching_slugs(|slug, requested| slug.trim_end() == requested.trim_end())
        => courses::detail::slugs_are_compared_by_bytes, "byte by byte";
    slugs_are_compared_as_numbers: matching_slugs(|slug, requested| match (slug.parse::<f64>(), requested.parse::<f64>()) {
        (Ok(slug), Ok(requested)) => slug == requested,
        _ => slug == requested,
    }) => courses::detail::slugs_are_compared_by_bytes, "byte by byte";
    slugs_are_matched_as_patterns: matching_slugs(|slug, requested| {
        slug == requested || requested.strip_suffix('%').is_some_and(|stem| slug.starts_with(stem))
    }) => courses::detail::slugs_are_compared_by_bytes, "byte by byte";
    slugs_are_normalized: matching_slugs(|slug, requested| {
        let composed = |slug: &str| slug.replace("e\u{301}", "\u{e9}");
        composed(slug) == composed(requested)
    }) => courses::detail::slugs_are_compared_by_bytes, "byte by byte";
    slugs_are_spliced_into_sql: matching_slugs(|slug, requested| slug == requested || requested.contains("' OR '"))
        => courses::detail::slugs_with_sql_syntax_are_treated_as_data, "A slug is data";
    slugs_are_truncated: matching_slugs(|slug, requested| slug.chars().take(50).eq(requested.chars().take(50)))
        => courses::detail::longest_slugs_are_distinguished, "All 200 bytes";

    line_ends_are_converted: altering_stored(|course| course.title = course.title.replace("\r\n", "\n"))
        => courses::fields::course_texts_are_stored_unchanged, "every text as it was put";
    texts_are_trimmed: altering_detail(|course| course.tagline = course.tagline.trim().to_owned())
        => courses::fields::course_texts_are_stored_unchanged, "every text as it was put";
    bodies_are_truncated: altering_stored(|course| {
        course.modules.iter_mut().for_each(|module| module.content = module.content.chars().take(60_000).collect());
    }) => administration::export::export_contains_every_module_text, "including bodies";
    summaries_are_normalized: altering_detail(|course| {
        for module in &mut course.modules {
            module.summary = module.summary.replace("e\u{301}", "\u{e9}");
        }
    }) => courses::fields::module_texts_are_stored_unchanged, "A module's header";
    account_names_lose_control_characters: Broken::new().export(|memory, _, visit| {
        for mut record in records(memory) {
            if let Record::Account(account) = &mut record {
                account.name.retain(|c| !c.is_control());
            }
            if visit(record) == ControlFlow::Break(()) {
                break;
            }
        }
    }) => administration::export::export_contains_every_account_text, "name and email as they were put";
    empty_summary_is_replaced_by_body: Broken::new().find(|memory, account, slug| {
        let mut found = find(memory, account, slug)?;
        let stored = courses(memory).into_iter().find(|course| course.account == *account && course.slug == slug)?;
        for (module, stored) in found.modules.iter_mut().zip(stored.modules) {
            if module.summary.is_empty() {
                module.summary = stored.content;
            }
        }
        Some(found)
    }) => courses::fields::module_bodies_are_not_returned, "A module's body is in no result";
    empty_access_mode_is_absent: altering_detail(|course| {
        course.access_mode = course.access_mode.take().filter(|mode| !mode.is_empty());
    })
        => courses::fields::absent_and_empty_values_differ, "absent access mode";
    times_are_stored_as_doubles: altering_stored(|course| course.published_at = course.published_at.map(via_double))
        => courses::fields::times_are_stored_to_the_microsecond, "to the microsecond";
    creation_times_are_truncated_to_milliseconds: altering_stored(|course| {
        let cut = course.created_at.as_microseconds().div_euclid(1_000) * 1_000;
        course.created_at = Timestamp::from_microseconds(cut).unwrap();
    }) => courses::fields::times_are_stored_to_the_microsecond, "to the microsecond";

    detail_ignores_account: finding_in_any_account(false)
        => courses::isolation::accounts_with_same_slugs_find_own_courses, "returns only its courses";
    detail_falls_back_to_other_accounts: finding_in_any_account(true)
        => courses::isolation::course_of_other_account_returns_none, "like one that does not exist";
    removal_ignores_account: Broken::new().remove(|memory, account, slug| {
        let exists = find(memory, account, slug).is_some();
        for course in courses(memory).into_iter().filter(|course| course.slug == slug) {
            remove(memory, &course.account, slug)?;
        }
        Ok(exists)
    }) => courses::isolation::writes_do_not_affect_other_accounts, "leaves other accounts unchanged";
}
