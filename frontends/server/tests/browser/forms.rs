//! The "try it" forms.

use serde_json::json;

use crate::host::{ESCAPES, HOSTILE, Host};
use crate::page::Page;

const ME: &str = "/me";
const COURSES: &str = "/courses";
const COURSE: &str = "/courses/{slug}";
const KEY: &str = "#api-key";
const LIMIT: &str = "#try-listCourses-limit";
const SLUG: &str = "#try-getCourse-slug";
const CURL_IS_SHOWN: &str = "document.querySelector('form[data-path=\"/courses/{slug}\"] .curl').checkVisibility()";

/// Starts a host and opens its reference page, with all panels open and a key in its field. Also returns the key.
fn visit() -> Option<(Host, Page, String)> {
    let (host, mut page) = (Host::start(), Page::fresh()?);
    let (_, key) = host.create_key("anna", "n", |_| {});
    page.visit(&host.docs());
    page.open_panels();
    page.paste(KEY, &key);
    Some((host, page, key))
}

#[test]
fn panels_are_closed_until_opened_by_keyboard() {
    let Some((host, mut page, key)) = visit() else { return };
    page.visit(&format!("{}/", host.docs()));
    let fields = "[...document.querySelectorAll('.try :is(input, button[type=submit])')].filter((part) => part.checkVisibility()).map((part) => part.id)";
    assert_eq!(page.evaluate(fields), json!([]));
    let key_is_shown = page.evaluate("document.querySelector('#api-key').checkVisibility()");
    assert_eq!(key_is_shown, true, "there is one field for the key");
    page.evaluate("document.querySelector('#try-getCourse-slug').closest('details').firstElementChild.focus()");
    page.press("Enter", 13);
    assert_eq!(page.evaluate(fields), json!([&SLUG[1..], ""]));
    page.paste(KEY, &key);
    page.paste(SLUG, "course-2");
    assert_eq!(page.send(COURSE).json()["data"]["slug"], "course-2");
    page.assert_no_complaints();
}

#[test]
fn pasted_key_reads_catalogue_to_its_last_page() {
    let Some((host, mut page, key)) = visit() else { return };
    let me = page.send(ME);
    assert!(me.status.starts_with("200 OK in ") && me.status.ends_with(" ms."), "{me:?}");
    assert_eq!(me.json(), host.get("/api/v1/me", &key).1);
    assert!(me.headers.contains("etag: W/\"") && me.headers.contains("x-request-id: "), "{}", me.headers);
    assert!(!me.next);

    page.paste(LIMIT, "2");
    let mut displayed = page.response_to(COURSES, |page| page.press("Enter", 13));
    let (mut pages, mut slugs) = (1, Vec::new());
    loop {
        let list = displayed.json();
        slugs.extend(list["data"].as_array().unwrap().iter().map(|course| course["slug"].as_str().unwrap().to_owned()));
        assert!(displayed.body.contains(&json!(HOSTILE).to_string()), "data is displayed as text");
        assert_eq!(list["meta"]["nextCursor"].is_string(), displayed.next);
        if !displayed.next {
            break;
        }
        pages += 1;
        displayed = page.response_to(COURSES, |page| {
            page.evaluate("document.querySelector('.next').focus()");
            page.press("Enter", 13);
        });
    }
    assert_eq!((pages, &*slugs.join(" ")), (3, "course-5 course-4 course-3 course-2 100%2D & 'été'"));
    assert!(displayed.status.ends_with("This is the last page."), "{}", displayed.status);
    let focused = page.evaluate("document.activeElement.textContent");
    assert_eq!(focused, "Send", "the focus moves to `Send` when the other button disappears");
    assert_eq!(page.evaluate("document.querySelectorAll('main img, main script').length"), 0);

    page.paste(SLUG, "course-2");
    assert_eq!(page.send(COURSE).json(), host.get("/api/v1/courses/course-2", &key).1);
    assert_eq!(page.send("/openapi.json").json(), host.get("/docs/openapi.json", "").1);
    page.assert_no_complaints();
}

#[test]
fn error_responses_are_displayed_unchanged() {
    let Some((host, mut page, _)) = visit() else { return };
    page.paste(SLUG, "no/such course?");
    let absent = page.send(COURSE);
    assert!(absent.status.starts_with("404 Not Found"), "{absent:?}");
    assert_eq!(absent.json()["error"]["code"], "not_found");
    let address = format!("'{}/api/v1/courses/no%2Fsuch%20course%3F'", host.origin);
    assert_eq!(absent.curl, format!("curl -H \"Authorization: Bearer $API_KEY\" {address}"));

    page.paste(LIMIT, "2");
    assert!(page.send(COURSES).next);
    for (limit, reason) in
        [("500", "out_of_range"), ("0", "out_of_range"), ("1.5", "not_an_integer"), ("abc", "not_an_integer")]
    {
        page.paste(LIMIT, limit);
        let refused = page.send(COURSES);
        assert!(refused.status.starts_with("400 Bad Request") && !refused.next, "{refused:?}");
        assert_eq!(refused.json()["error"]["details"]["reason"], reason, "{limit}");
        assert!(refused.curl.ends_with(&format!("/courses?limit={limit}'")), "{}", refused.curl);
    }
    page.paste(LIMIT, "");
    for cursor in ["a b", &"a".repeat(2000)] {
        page.paste("#try-listCourses-cursor", cursor);
        assert_eq!(page.send(COURSES).json()["error"]["details"]["parameter"], "cursor");
    }
    let long = "s".repeat(201);
    page.paste(SLUG, &long);
    let absent = page.send(COURSE);
    assert!(absent.status.starts_with("404 Not Found"), "{absent:?}");
    assert!(absent.curl.ends_with(&format!("/courses/{long}'")), "{}", absent.curl);

    page.paste(KEY, "ccat_wrong");
    let wrong = page.send(ME);
    assert_eq!(wrong.json()["error"]["details"]["reason"], "invalid");
    assert!(wrong.headers.contains("www-authenticate: Bearer realm="), "{}", wrong.headers);
    page.assert_no_complaints();
}

#[test]
fn unsendable_form_shows_reason_and_clears_old_response() {
    let Some((_host, mut page, key)) = visit() else { return };
    page.paste(SLUG, "course-2");
    assert_eq!(page.send(COURSE).json()["data"]["slug"], "course-2");
    let requests = page.requests().len();
    page.paste(SLUG, "");
    let empty = page.send(COURSE);
    assert_eq!((&*empty.status, &*empty.body, &*empty.headers), ("Nothing was sent: fill in slug.", "", ""));
    assert_eq!(page.evaluate("document.querySelector('form[data-path=\"/courses/{slug}\"] ~ .response').hidden"), true);
    for slug in [".", ".."] {
        page.paste(SLUG, slug);
        let refused = page.send(COURSE);
        assert_eq!(refused.status, format!("Nothing was sent: a browser cannot request the slug \"{slug}\"."));
        assert_eq!(page.evaluate("document.activeElement.id"), SLUG[1..], "the field to correct has the focus");
        assert_eq!(page.evaluate(CURL_IS_SHOWN), false, "curl would send the same request");
    }
    page.paste(KEY, "schlüssel");
    assert_eq!(page.send(ME).status, "The API key contains an invalid character.");
    page.paste(KEY, "");
    let missing = page.send(ME);
    assert_eq!((&*missing.status, &*missing.body), ("Nothing was sent: set the API key first.", ""));
    assert_eq!(page.evaluate("document.activeElement.id"), KEY[1..], "the field to fill in has the focus");
    assert_eq!(page.requests().len(), requests);

    page.paste(KEY, &key);
    page.paste(SLUG, "...");
    assert!(page.send(COURSE).status.starts_with("404 Not Found"));
    assert_eq!(page.evaluate(CURL_IS_SHOWN), true);
}

#[test]
fn slug_is_percent_encoded_once() {
    let Some((_host, mut page, _)) = visit() else { return };
    let label = page.evaluate(&format!("document.querySelector('{SLUG}').labels[0].textContent"));
    assert_eq!(label, "slug required; the form encodes it");
    page.paste(SLUG, ESCAPES);
    let course = page.send(COURSE);
    assert!(course.status.starts_with("200 OK"), "{course:?}");
    assert_eq!(course.json()["data"]["slug"], ESCAPES);
    assert!(course.curl.contains("/courses/100%252D%20%26%20'\\''%C3%A9t%C3%A9'\\''"), "{}", course.curl);
    page.assert_no_complaints();
}

#[test]
fn fields_enforce_bounds_of_openapi_document() {
    let Some((_host, mut page, _)) = visit() else { return };
    for (field, text, state) in [
        ("#try-listCourses-cursor", "a b", "patternMismatch"),
        ("#try-listCourses-cursor", "aZ09-_", "valid"),
        (LIMIT, "100", "valid"),
        (SLUG, "", "valueMissing"),
    ] {
        page.paste(field, text);
        let fits = page.evaluate(&format!("document.querySelector('{field}').validity.{state}"));
        assert_eq!(fits, true, "{field} {text:?} {state}");
    }
    page.assert_no_complaints();
}

#[test]
fn key_is_sent_only_to_api_and_not_stored() {
    let Some((host, mut page, key)) = visit() else { return };
    page.send(ME);
    page.paste(SLUG, "course-2");
    page.send(COURSE);
    assert_eq!(page.evaluate("document.querySelector('#api-key').type"), "password");
    for place in [
        "location.href",
        "document.cookie",
        "JSON.stringify({ ...localStorage, ...sessionStorage })",
        "document.documentElement.outerHTML",
    ] {
        assert!(!page.evaluate(place).as_str().unwrap().contains(&key), "{place}");
    }
    page.visit(&format!("{}/", host.docs()));
    assert_eq!(page.evaluate("document.querySelector('#api-key').value"), "");

    for request in page.requests() {
        let address = request["url"].as_str().unwrap();
        assert!(address.starts_with(&host.origin) || address.starts_with("data:"), "{address} has another origin");
        assert!(!address.contains(&key));
        let header = request["headers"]["Authorization"].as_str();
        let is_call = address.contains("/api/v1/");
        assert_eq!(header, is_call.then_some(&*format!("Bearer {key}")), "{address}");
        assert!(!is_call || request["referrerPolicy"] == "no-referrer", "{request}");
    }
}

#[test]
fn cross_origin_request_needs_cors_origin() {
    for is_allowed in [true, false] {
        let host = Host::start_with(|api, port| {
            let origins = is_allowed.then(|| format!("http://localhost:{port}"));
            api.base_url(format!("http://127.0.0.1:{port}/api/v1")).cors_origins(origins)
        });
        let Some(mut page) = Page::fresh() else { return };
        let (_, key) = host.create_key("anna", "n", |_| {});
        page.visit(&host.docs().replace("127.0.0.1", "localhost"));
        page.open_panels();
        page.paste(KEY, &key);
        page.paste(LIMIT, "2");
        let displayed = page.send(COURSES);
        if is_allowed {
            assert_eq!(displayed.json(), host.get("/api/v1/courses?limit=2", &key).1);
            for field in ["etag: ", "x-request-id: "] {
                assert!(displayed.headers.contains(field), "{}", displayed.headers);
            }
            page.assert_no_complaints();
        } else {
            let start = format!("No response: {} could not be reached, or", host.origin);
            assert!(displayed.status.starts_with(&start), "{displayed:?}");
            assert!(displayed.status.contains("(CORS)") && displayed.body.is_empty(), "{displayed:?}");
        }
    }
}
