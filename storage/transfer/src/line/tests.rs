//! Valid and invalid lines.

use super::*;

fn course(fields: &str) -> String {
    format!(r#"{{"type":"course","account":"a","slug":"s","title":"t","language":"en"{fields}}}"#)
}

fn error_of(line: impl AsRef<[u8]>) -> String {
    let line = line.as_ref();
    match parse(line) {
        Err(error) => error,
        Ok(parsed) => panic!("{}: {parsed:?}", String::from_utf8_lossy(line)),
    }
}

fn parsed_course(line: &str) -> Course {
    match parse(line.as_bytes()) {
        Ok(Line::Course(course)) => {
            let created_at = course.created_at.unwrap_or(Timestamp::MIN);
            course.into_course(created_at)
        }
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn account_is_read_with_and_without_optional_fields() {
    for (line, name) in [
        (r#"{"type":"account","id":"acc_1","name":"N","email":"e"}"#, "N"),
        (" { \"email\" : \"e\" , \"id\" : \"acc_1\" , \"type\" : \"account\" } \r", ""),
    ] {
        let Ok(Line::Account(account)) = parse(line.as_bytes()) else { panic!("{line}") };
        assert_eq!((account.id.as_str(), &*account.name, &*account.email), ("acc_1", name, "e"));
    }
}

#[test]
fn course_is_read_with_defaults() {
    let course = parsed_course(&course(""));
    assert_eq!((course.created_at, course.published_at), (Timestamp::MIN, None));
    assert_eq!((&*course.tagline, course.hidden, course.access_mode, course.modules.len()), ("", false, None, 0));
}

#[test]
fn every_field_of_course_is_read() {
    let course = parsed_course(&course(
        r#","tagline":"ü","createdAt":"2023-01-02T03:04:05.1234567+01:00","publishedAt":"2023-01-02t03:04:05z",
        "hidden":true,"accessMode":"free","modules":[{"title":"m","summary":"s","content":"\u00e9🤗"},{"title":"n"}]"#,
    ));
    assert_eq!(course.created_at.to_exact_string(), "2023-01-02T02:04:05.123456Z");
    assert_eq!(course.published_at.unwrap().to_exact_string(), "2023-01-02T03:04:05Z");
    assert!(course.hidden && course.access_mode.as_deref() == Some("free"));
    let module = |title: &str, summary: &str, content: &str| CourseModule {
        title: title.to_owned(),
        summary: summary.to_owned(),
        content: content.to_owned(),
    };
    assert_eq!(course.modules, [module("m", "s", "é🤗"), module("n", "", "")]);
}

#[test]
fn null_is_accepted_only_for_nullable_fields() {
    let course = parsed_course(&course(r#","publishedAt":null,"accessMode":null"#));
    assert_eq!((course.published_at, course.access_mode), (None, None));
    for field in ["tagline", "createdAt", "hidden", "modules"] {
        let error = error_of(self::course(&format!(r#","{field}":null"#)));
        assert!(error.starts_with(&format!("{field}: invalid type: null, expected")), "{error}");
    }
    for field in ["name", "email"] {
        let error = error_of(format!(r#"{{"type":"account","id":"a","{field}":null}}"#));
        assert_eq!(error, format!("{field}: invalid type: null, expected a string"));
    }
}

#[test]
fn error_describes_invalid_line() {
    for (line, pieces) in [
        (&b"\xef\xbb\xbf{}"[..], ["starts with a byte order mark", "UTF-8 without one"]),
        (b"\xff\xfe{\0\"\0", ["UTF-16", "as UTF-8, one object per line"]),
        (b"\xfe\xff\0{\0\"", ["UTF-16", "as UTF-8, one object per line"]),
        (b"{\0\"\0t\0", ["UTF-16", "as UTF-8, one object per line"]),
        (b"\x7fELF\x02\x01\0", ["NUL byte (UTF-16, or not text)", "as UTF-8, one object per line"]),
        (b"[]", ["not a JSON object", "one object per line"]),
        (b"\"account\"", ["not a JSON object", ""]),
        (b"nonsense", ["not a JSON object", ""]),
        (b"{\"type\":\"account\",\"id\":\"\xff\"}", ["invalid UTF-8 at byte 25", "as UTF-8, one object per line"]),
        (b"{\"type\":\"account\"", ["not JSON: EOF", "put each object on its own line"]),
        (b"{", ["not JSON: EOF", "put each object on its own line"]),
        (b"{\"type\":\"account\",\"id\":\"a\"} x", ["trailing characters", "put each object on its own line"]),
        (b"{\"type\":\"account\",\"id\":\"a\"}{}", ["not JSON", "byte 28 of the line"]),
        (b"{\"type\":\"account\",\"id\":\"a\",}", ["not JSON", "trailing comma"]),
        (b"{'type':'account'}", ["not JSON", ""]),
        (b"{\"type\":\"account\",\"id\":\"\\ud800\"}", ["not JSON", "hex escape"]),
        (b"{\"type\":\"account\",\"id\":\"a\",\"name\":NaN}", ["not JSON", ""]),
    ] {
        let error = error_of(line);
        for piece in pieces {
            assert!(error.contains(piece), "{}: {error}", String::from_utf8_lossy(line));
        }
    }
}

#[test]
fn error_names_the_field() {
    for (line, start) in [
        ("{}".to_owned(), "type: missing"),
        (r#"{"type":"corse"}"#.to_owned(), r#"type: invalid type "corse"; use "account" or "course""#),
        (r#"{"type":null}"#.to_owned(), "type: invalid type: null"),
        (r#"{"type":"account","type":"account","id":"a"}"#.to_owned(), "type: duplicate field"),
        (r#"{"type":"account"}"#.to_owned(), "id: missing"),
        (r#"{"type":"account","id":""}"#.to_owned(), r#"id: invalid id ""; use 1 to 200 bytes"#),
        (r#"{"type":"account","id":"a\u0085"}"#.to_owned(), "id: "),
        (format!(r#"{{"type":"account","id":"{}"}}"#, "a".repeat(201)), "id: "),
        (r#"{"type":"account","id":7}"#.to_owned(), "id: invalid type: integer `7`, expected a string"),
        (r#"{"type":"account","id":"a","slug":"s"}"#.to_owned(), "slug: unknown field `slug`, expected one of"),
        (r#"{"type":"account","id":"a","id":"a"}"#.to_owned(), "id: duplicate field"),
        (r#"{"type":"course","account":"a","slug":"s","title":"t"}"#.to_owned(), "language: missing"),
        (r#"{"type":"course","account":"a","slug":"a/b"}"#.to_owned(), r#"slug: invalid slug "a/b"; use 1 to 200"#),
        (format!(r#"{{"type":"course","account":"a","slug":"{}"}}"#, "é".repeat(101)), "slug: "),
        (course(r#","title":"u""#), "title: duplicate field"),
        (course(r#","number":1"#), "number: unknown field"),
        (course(r#","hidden":"true""#), "hidden: invalid type: string \"true\", expected a boolean"),
        (course(r#","createdAt":"2023-01-02""#), r#"createdAt: "2023-01-02" is not an RFC 3339 time"#),
        (course(r#","createdAt":"2023-01-02 03:04:05Z""#), "createdAt: "),
        (course(r#","publishedAt":1672628645"#), "publishedAt: invalid type: integer"),
        (course(r#","created_at":"2023-01-02T03:04:05Z""#), "created_at: unknown field"),
        (course(r#","modules":{}"#), "modules: invalid type: map, expected a sequence"),
        (course(r#","modules":[{"title":"a"},{"title":"b"},{"titel":"c"}]"#), "modules[2].titel: unknown field"),
        (course(r#","modules":[{"title":"a"},{}]"#), "modules[1].title: missing"),
        (course(r#","modules":[{"title":"a","title":"b"}]"#), "modules[0].title: duplicate field"),
        (course(r#","modules":[{"title":"a","summary":null}]"#), "modules[0].summary: invalid type: null"),
        (course(r#","modules":[["a","b","c"]]"#), "modules[0]: invalid type: sequence, expected an object"),
        (course(r#","modules":["a"]"#), "modules[0]: invalid type: string \"a\", expected an object"),
        (course(r#","modules":[null]"#), "modules[0]: invalid type: null, expected an object"),
    ] {
        let error = error_of(&line);
        assert!(error.starts_with(start), "{line}: {error}");
    }
}

#[test]
fn deep_nesting_is_refused() {
    let nested = course(&format!(r#","modules":{}"#, "[".repeat(1_000_000)));
    assert!(error_of(nested).contains("not JSON"));
}

#[test]
fn errors_are_short_and_escaped() {
    let long = error_of(course(&format!(r#","hidden":"{}""#, "é".repeat(100_000))));
    assert!(long.len() < 500 && long.ends_with("expected a boolean"), "{long}");
    let key = error_of(course(&format!(r#","{}":1"#, "k".repeat(100_000))));
    assert!(key.len() < 1_200, "{key}");
    let steering = error_of(course(r#","\u001b[2J":1"#));
    assert!(steering.starts_with("\\u{1b}[2J: "), "{steering:?}");
    let broken = error_of(r#"{"type":"account","id":"a","x\nerror: nothing is wrong":1}"#);
    assert!(broken.contains("unknown field `x\\nerror: ") && !broken.contains('\n'), "{broken:?}");
}
