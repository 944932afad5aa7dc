//! [`World`]: two accounts, courses and tokens, as the model knows them and as a storage holds them.

use catalogue_core::admin::{Account, AdminStorage, NewCredential};
use catalogue_core::auth::{BearerToken, Identity, Scopes};
use catalogue_core::storage::{Actor, KeyStorage, MemoryStorage};
use catalogue_core::{AccountId, Catalogue, CourseModule, Timestamp};
use serde_json::{Value, json};

use super::super::ask::now;
use super::super::token::signed;

/// No answer may hold it.
const BODY: &str = "the body of a module";

/// A course as an owner knows it.
#[derive(Clone, Debug)]
pub(super) struct Course {
    account: &'static str,
    pub(super) slug: String,
    /// Seconds after a fixed instant.
    created: i64,
    published: Option<(&'static str, &'static str)>,
    modules: usize,
}

/// A token, and what it is.
pub(super) struct Token {
    pub(super) name: &'static str,
    pub(super) account: &'static str,
    pub(super) scopes: &'static [&'static str],
    pub(super) state: &'static str,
    is_key: bool,
}

pub(super) const TOKENS: [Token; 7] = [
    token("full", "ada", &["read:profile", "read:courses"], "valid"),
    token("profile", "ada", &["read:profile"], "valid"),
    token("foreign", "bob", &["read:courses", "write:all"], "valid"),
    token("empty", "eve", &["read:courses"], "valid"),
    token("expired", "ada", &["read:courses"], "expired"),
    token("revoked", "ada", &["read:courses"], "revoked"),
    Token { is_key: false, ..token("oauth", "ada", &["read:courses"], "valid") },
];

const fn token(
    name: &'static str,
    account: &'static str,
    scopes: &'static [&'static str],
    state: &'static str,
) -> Token {
    Token { name, account, scopes, state, is_key: true }
}

impl Token {
    pub(super) fn text(&self) -> String {
        let middle: String = self.name.chars().cycle().take(43).collect();
        signed(&format!("{}{middle}", if self.is_key { "ccat_" } else { "cato_" }))
    }

    pub(super) fn id(&self) -> String {
        match self.is_key {
            true => format!("key_{}", self.name),
            false => {
                let digest = *BearerToken::new(&self.text()).unwrap().digest().as_bytes();
                digest[..16].iter().fold("oauth:".to_owned(), |id, byte| format!("{id}{byte:02x}"))
            }
        }
    }
}

/// The courses of all accounts.
pub(super) struct World {
    courses: Vec<Course>,
    second_page: String,
}

impl World {
    pub(super) fn build() -> (Catalogue, Self) {
        let mut courses = Vec::new();
        for (place, slug) in ["a", "ä", "a b", "100%", "a%2Fb", "..", "\"q\"\\", "?x#y", "\u{1f917}"].iter().enumerate()
        {
            // Two each of the same instant.
            courses.push(Course::new("ada", slug, place as i64 / 2, place));
        }
        courses.push(Course::new("ada", &"x".repeat(200), -5, 0));
        courses.extend((0..100).map(|number| Course::new("ada", &format!("c{number:02}"), number % 7 * 1000, 1)));
        courses.extend(["a", "of-bob"].map(|slug| Course::new("bob", slug, 0, 2)));
        let storage = MemoryStorage::new();
        let mut import = now(storage.begin_import()).unwrap();
        for id in ["ada", "bob", "eve"] {
            let account = Account { id: AccountId::new(id), name: id.to_owned(), email: String::new() };
            now(import.put_account(&account)).unwrap();
        }
        for course in &courses {
            now(import.put_course(&course.stored())).unwrap();
        }
        now(import.commit()).unwrap();
        for token in &TOKENS {
            put(&storage, token);
        }
        let catalogue = Catalogue::with_api_keys(storage).own_root().cors_origins(["https://app.example.com"]);
        let catalogue = catalogue.build().unwrap();
        let request = http::Request::get("/api/v1/courses?limit=1")
            .header("authorization", format!("Bearer {}", TOKENS[0].text()))
            .body(())
            .unwrap();
        let page: Value = serde_json::from_slice(now(catalogue.call(request)).body()).unwrap();
        let second_page = page["meta"]["nextCursor"].as_str().unwrap().to_owned();
        (catalogue, Self { courses, second_page })
    }

    /// The cursor behind the first course of `ada`.
    pub(super) fn second_page(&self) -> &str {
        &self.second_page
    }

    /// The courses of an account in the order of decision A7.
    pub(super) fn list(&self, account: &str) -> Vec<&Course> {
        let mut own: Vec<_> = self.courses.iter().filter(|course| course.account == account).collect();
        own.sort_by_key(|course| (course.created, course.slug.as_bytes()));
        own.reverse();
        own
    }
}

impl Course {
    fn new(account: &'static str, slug: &str, created: i64, kind: usize) -> Self {
        // As it is stored, and as it is shown.
        let published = [
            None,
            Some(("2026-01-02T03:04:05.678901Z", "2026-01-02T03:04:05.678Z")),
            Some(("2024-02-29T23:59:59+02:00", "2024-02-29T21:59:59.000Z")),
        ];
        Self { account, slug: slug.to_owned(), created, published: published[kind % 3], modules: kind % 4 }
    }

    fn is_hidden(&self) -> bool {
        self.modules == 2
    }

    fn stored(&self) -> catalogue_core::Course {
        let module = |number| CourseModule {
            title: format!("Module \"{number}\""),
            summary: format!("{number}\n\u{7f}\u{2028}"),
            content: BODY.to_owned(),
        };
        catalogue_core::Course {
            account: AccountId::new(self.account),
            slug: self.slug.clone(),
            title: format!("<{}>", self.slug),
            tagline: String::new(),
            language: "en".to_owned(),
            created_at: Timestamp::from_microseconds((1_700_000_000 + self.created) * 1_000_000).unwrap(),
            published_at: self.published.map(|(stored, _)| Timestamp::parse(stored).unwrap()),
            hidden: self.is_hidden(),
            access_mode: (self.modules == 1).then(|| "free".to_owned()),
            modules: (1..=self.modules).map(module).collect(),
        }
    }

    /// Section 2.2.
    pub(super) fn item(&self) -> Value {
        json!({
            "slug": self.slug, "title": format!("<{}>", self.slug), "language": "en",
            "publishedAt": self.published.map(|(_, shown)| shown), "hidden": self.is_hidden(),
            "moduleCount": self.modules,
        })
    }

    /// Sections 2.3 and 2.4.
    pub(super) fn detail(&self) -> Value {
        let module = |number: usize| {
            let (title, summary) = (format!("Module \"{number}\""), format!("{number}\n\u{7f}\u{2028}"));
            json!({ "number": number, "title": title, "summary": summary })
        };
        let modules: Vec<_> = (1..=self.modules).map(module).collect();
        json!({
            "slug": self.slug, "title": format!("<{}>", self.slug), "tagline": "", "language": "en",
            "publishedAt": self.published.map(|(_, shown)| shown), "hidden": self.is_hidden(),
            "accessMode": (self.modules == 1).then_some("free"), "modules": modules,
        })
    }
}

fn put(storage: &MemoryStorage, token: &Token) {
    let (account, scopes) = (AccountId::new(token.account), Scopes::from_names(token.scopes.iter().copied()));
    let (_, mut credential) = NewCredential::api_key(account.clone(), token.name, scopes.clone());
    credential.digest = BearerToken::new(&token.text()).unwrap().digest();
    credential.record.identity = match token.is_key {
        true => Identity::api_key(account, token.id(), scopes),
        false => Identity::oauth(account, &credential.digest, scopes),
    };
    // Not longer ago: keys that ended 400 days ago are removed when the next one is created.
    let past = Some(credential.record.created_at);
    credential.record.expires_at = past.filter(|_| token.state == "expired");
    credential.record.revoked_at = past.filter(|_| token.state == "revoked");
    now(storage.create_key(&credential, &Actor::OPERATOR)).unwrap();
}
