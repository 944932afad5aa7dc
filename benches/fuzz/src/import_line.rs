//! Lines of the import format: the JSON Schema and the import accept the same, and the import is the inverse of the export.

use std::io::Cursor;
use std::sync::LazyLock;

use catalogue_core::Timestamp;
use catalogue_core::admin::Accounts;
use catalogue_core::storage::MemoryStorage;
use catalogue_transfer::{ImportError, Input, Options, Report, SCHEMA, export, import_text};
use jsonschema::Validator;
use serde_json::Value;

use super::call::block_on;

static FORMAT: LazyLock<Validator> =
    LazyLock::new(|| jsonschema::validator_for(&serde_json::from_str(SCHEMA).unwrap()).unwrap());

pub(super) fn check(input: &[u8]) {
    let storage = MemoryStorage::new();
    let in_two_passes = in_two_passes(&storage, input);
    let written = export_all(&storage);
    if let Err(error) = &in_two_passes {
        check_errors(error, input);
        assert_eq!(written, "", "a failed import changes nothing");
    }
    let Some(text) = decoded(input) else {
        assert!(in_two_passes.is_err());
        return;
    };
    let text = &*text;
    let from_text = block_on(import_text(&MemoryStorage::new(), text, Options::default()));
    assert_eq!(from_text.is_ok(), in_two_passes.is_ok(), "{from_text:?} {in_two_passes:?}");
    if in_two_passes.is_ok() {
        check_schema(text);
        check_inverse(&storage, &written);
    }
    check_each_line(text);
}

/// Returns the text of an input without a byte order mark; `None` if it is not a text, or contains U+0000, which no line may.
fn decoded(input: &[u8]) -> Option<String> {
    let unit = match input {
        [0xff, 0xfe, ..] => u16::from_le_bytes,
        [0xfe, 0xff, ..] => u16::from_be_bytes,
        [first, 0, ..] if *first != 0 => u16::from_le_bytes,
        [0, second, ..] if *second != 0 => u16::from_be_bytes,
        _ => return without_mark(str::from_utf8(input).ok()?),
    };
    let (units, []) = input.as_chunks() else { return None };
    without_mark(&String::from_utf16(&units.iter().copied().map(unit).collect::<Vec<_>>()).ok()?)
}

fn without_mark(text: &str) -> Option<String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    (!text.contains('\0')).then(|| text.to_owned())
}

/// Asserts that the schema accepts what the import accepts.
fn check_schema(text: &str) {
    for line in text.lines().filter(|line| !line.trim_ascii().is_empty()) {
        let line: Value = serde_json::from_str(line).expect("a line is JSON");
        assert!(FORMAT.is_valid(&line), "{line}");
    }
}

/// Asserts that an export can be imported unchanged, and that a second import changes nothing.
fn check_inverse(storage: &MemoryStorage, written: &str) {
    let copy = MemoryStorage::new();
    block_on(import_text(&copy, written, Options::default())).expect("an export can be imported");
    assert_eq!(export_all(&copy), written);
    let report = block_on(import_text(storage, written, Options { prune: true, ..Options::default() })).unwrap();
    let (accounts, courses) = (report.accounts, report.courses);
    assert_eq!((accounts.added, accounts.changed, courses.added, courses.changed, courses.removed), (0, 0, 0, 0, 0));
}

/// Asserts that a line can be imported if the schema accepts it, unless it breaks a rule that no schema can express. The
/// line is serialized again, which removes repeated members.
fn check_each_line(text: &str) {
    for line in text.lines() {
        let Some(line) = serde_json::from_str(line).ok().filter(|line| FORMAT.is_valid(line)) else { continue };
        let account = if line["type"] == "course" {
            format!(r#"{{"type":"account","id":{}}}"#, line["account"])
        } else {
            String::new()
        };
        let imported = block_on(import_text(&MemoryStorage::new(), &format!("{account}\n{line}"), Options::default()));
        assert_eq!(imported.is_ok(), is_valid_line(&line), "{line} {imported:?}");
    }
}

/// Checks rules beyond the schema: lengths are in bytes, and not every date that matches the pattern exists.
fn is_valid_line(line: &Value) -> bool {
    let is_short = |name: &str| line[name].as_str().is_none_or(|text| text.len() <= 200);
    let is_time = |name: &str| line[name].as_str().is_none_or(|time| Timestamp::parse(time).is_ok());
    match line["type"].as_str() {
        Some("account") => is_short("id"),
        _ => ["account", "slug"].into_iter().all(is_short) && ["createdAt", "publishedAt"].into_iter().all(is_time),
    }
}

/// Asserts that there are at most twenty errors, in the order of their lines and safe for a terminal.
fn check_errors(error: &ImportError, input: &[u8]) {
    let ImportError::Input { errors, stopped } = error else { panic!("{error:?}") };
    let lines = input.split(|byte| *byte == b'\n').count() as u64;
    assert!((1..=20).contains(&errors.len()) && *stopped == (errors.len() == 20), "{errors:?}");
    assert!(errors.windows(2).all(|two| two[0].line < two[1].line), "{errors:?}");
    for error in errors {
        assert!((1..=lines).contains(&error.line.expect("the error names a line")), "{error:?}");
        assert!(error.message.len() < 1500 && !error.message.contains(char::is_control), "{error:?}");
    }
}

fn in_two_passes(storage: &MemoryStorage, input: &[u8]) -> Result<Report, ImportError> {
    let checked = Input::stream(Cursor::new(input.to_vec())).check()?;
    block_on(block_on(checked.prepare(storage, Options::default()))?.finish())
}

fn export_all(storage: &MemoryStorage) -> String {
    let mut target = Vec::new();
    block_on(export(storage, Accounts::All, &mut target)).unwrap();
    String::from_utf8(target).unwrap()
}
