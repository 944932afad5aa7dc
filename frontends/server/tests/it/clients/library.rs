//! [`Library`]: several hundred courses in many scripts, and the data that clients must get.

use std::cmp::Reverse;

use serde_json::{Value, json};

/// Owner of all courses.
pub(crate) const ACCOUNT: &str = "acc_библиотека";
/// Number of courses, not divisible by the page size of the clients.
const COURSES: usize = 420;
/// Number of courses that share one creation time.
const TIES: usize = 5;

/// Language, slug prefix, title and tagline of courses in each script.
const SCRIPTS: [[&str; 4]; 14] = [
    ["fr", "pâte-feuilletée", "Pâte feuilletée, étape par étape", "Du beurre, de la farine et du temps."],
    ["vi", "cà-phê-sữa-đá", "Cà phê sữa đá", "Pha chậm, uống lâu."],
    ["uk", "як-спекти-хліб", "Як спекти хліб", "Закваска, борошно й терпіння."],
    ["el", "ψωμί-με-προζύμι", "Ψωμί με προζύμι", "Από το πρώτο προζύμι ώς τον φούρνο."],
    ["ar", "خبز-البيت", "خبز البيت", "عجينة واحدة وثلاثة أرغفة."],
    ["he", "לחם-מחמצת", "לחם מחמצת", "קמח, מים ומלח."],
    ["hi", "घर-की-रोटी", "घर की रोटी", "आटा गूँधने से तवे तक।"],
    ["th", "ขนมปังโฮมเมด", "ขนมปังโฮมเมด", "เริ่มจากแป้งหมักของคุณเอง"],
    ["ja", "はじめてのパン", "はじめてのパン作り", "粉と水と、少しの待ち時間。"],
    ["ko", "천연-발효빵", "천연 발효빵", "밀가루와 물, 그리고 시간."],
    ["zh", "面包入门", "面包入门：从酵种开始", "面粉、水和耐心。"],
    ["en", "🥖👩🏽‍🍳", "🥖 Baking with 👩🏽‍🍳 and 👨‍👩‍👧", "Flags too: 🇺🇦🇬🇷."],
    ["en", "100%-rye a+b?c=d&e#f;g", "\"Rye\" & <spelt> \\ 'oats'", "{braces}, [brackets] and a tab:\t."],
    ["mul", "cafe\u{301}-Å-ﬁ-ß", "Cafe\u{301} is not Café", "\u{202e}right to left\u{202c} and back\u{200b}"],
];

/// Slug of one course, which the samples of the reference page request.
const SAMPLE_SLUG: &str = "bread-for-beginners";

/// All courses, newest first.
pub(crate) struct Library(Vec<Course>);

struct Course {
    number: usize,
    slug: String,
    /// Index of the creation time, which [`TIES`] courses share.
    instant: usize,
}

impl Library {
    pub(crate) fn new() -> Self {
        let course = |number: usize| Course {
            number,
            slug: match number {
                7 => SAMPLE_SLUG.to_owned(),
                _ => format!("{}-{}", SCRIPTS[number % SCRIPTS.len()][1], number / SCRIPTS.len()),
            },
            // 101 is coprime with the number of courses, so neighbors in time have different scripts.
            instant: (number * 101 % COURSES) / TIES,
        };
        let mut courses: Vec<_> = (0..COURSES).map(course).collect();
        courses.sort_by_key(|course| Reverse((course.instant, course.slug.clone())));
        Self(courses)
    }

    /// Returns the courses as import lines, in another order than that of the list.
    pub(crate) fn lines(&self) -> String {
        let account = json!({ "type": "account", "id": ACCOUNT, "name": "Библиотека", "email": "" });
        let mut lines: Vec<_> = self.0.iter().map(|course| course.line().to_string()).collect();
        lines.sort();
        format!("{account}\n{}\n", lines.join("\n"))
    }

    /// Returns the expected items of `GET /courses` over all pages.
    pub(crate) fn items(&self) -> Vec<Value> {
        self.0.iter().map(Course::item).collect()
    }

    /// Returns the expected `GET /courses/{slug}` of each course.
    pub(crate) fn details(&self) -> Vec<Value> {
        self.0.iter().map(Course::detail).collect()
    }
}

impl Course {
    fn script(&self) -> [&'static str; 4] {
        SCRIPTS[self.number % SCRIPTS.len()]
    }

    fn published_at(&self) -> Option<String> {
        (!self.number.is_multiple_of(3)).then(|| format!("2026-02-03T04:05:06.{:03}Z", self.number))
    }

    fn modules(&self) -> impl Iterator<Item = [String; 2]> {
        let [_, _, title, tagline] = self.script();
        (0..self.number % 4).map(move |number| [format!("{number}. {title}"), tagline.repeat(number)])
    }

    fn item(&self) -> Value {
        let [language, _, title, _] = self.script();
        json!({
            "slug": self.slug, "title": title, "language": language, "publishedAt": self.published_at(),
            "hidden": self.number.is_multiple_of(5), "moduleCount": self.modules().count(),
        })
    }

    fn detail(&self) -> Value {
        let mut detail = self.item();
        detail.as_object_mut().unwrap().remove("moduleCount");
        let [.., tagline] = self.script();
        detail["tagline"] = tagline.into();
        detail["accessMode"] = if self.number.is_multiple_of(4) { Value::Null } else { "members only".into() };
        let numbered = self.modules().zip(1..);
        detail["modules"] = numbered
            .map(|([title, summary], number)| json!({ "number": number, "title": title, "summary": summary }))
            .collect();
        detail
    }

    fn line(&self) -> Value {
        let mut line = self.detail();
        line["type"] = "course".into();
        line["account"] = ACCOUNT.into();
        // Every other creation time is a microsecond after the previous one.
        let (second, microsecond) = (self.instant / 2, self.instant % 2);
        line["createdAt"] = format!("2026-01-01T00:{:02}:{:02}.00000{microsecond}Z", second / 60, second % 60).into();
        line["modules"] = self
            .modules()
            .map(|[title, summary]| json!({ "title": title, "summary": summary, "content": "not in any response" }))
            .collect();
        line
    }
}
