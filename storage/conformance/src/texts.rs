//! Texts that test a storage's encoding.

use catalogue_core::{Course, CourseModule};

use crate::sample::course;

/// Returns texts that storages, encodings and quoting have been known to change.
pub(crate) fn unusual_texts() -> Vec<String> {
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
        "\0 zero \0\0 between, \u{fffe}0 \u{fffe}\u{fffe} \0",
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

/// Returns courses of account `a` that use each of the [`unusual_texts`] in every text of a course and of a module.
pub(crate) fn unusual_courses() -> Vec<Course> {
    let texts = unusual_texts();
    let at = |index: usize| texts[index % texts.len()].clone();
    let mut courses: Vec<_> = (0..texts.len())
        .map(|index| Course {
            title: at(index),
            tagline: at(index + 1),
            language: at(index + 2),
            access_mode: Some(at(index + 3)),
            ..course("a", &format!("text-{index:02}"))
        })
        .collect();
    let module = |index| CourseModule { title: at(index), summary: at(index + 1), content: at(index + 2) };
    courses.push(Course { modules: (0..texts.len()).map(module).collect(), ..course("a", "zz-modules") });
    courses
}
