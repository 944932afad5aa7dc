//! Title, contact, key page, settings and issuers in the documents.

use catalogue_core::auth::{Authenticator, BearerToken, StoredCredentials, Verdict};
use catalogue_core::storage::{MemoryStorage, StorageError};
use catalogue_core::{BuildError, Catalogue, CatalogueBuilder, DocumentFormat, async_trait};
use http::Request;
use serde_json::{Value, json};

const FORMATS: [DocumentFormat; 4] =
    [DocumentFormat::OpenApi, DocumentFormat::OpenApi30, DocumentFormat::Markdown, DocumentFormat::Llms];

fn builder() -> CatalogueBuilder {
    Catalogue::with_api_keys(MemoryStorage::new())
}

/// Returns all documents of a catalogue, the page last.
async fn documents(builder: CatalogueBuilder) -> Vec<String> {
    let catalogue = builder.build().unwrap();
    let page = catalogue.call(Request::get("/docs").body(()).unwrap()).await;
    let page = String::from_utf8(page.body().to_vec()).unwrap();
    FORMATS.map(|format| catalogue.document(format)).into_iter().chain([page]).collect()
}

#[tokio::test]
async fn all_documents_contain_title_contact_and_key_page() {
    let named = builder()
        .docs_title("Courses of Bäcker & Co")
        .docs_contact("help@example.com")
        .docs_keys_url("https://example.com/settings/keys?a=b&c=d");
    for document in documents(named).await {
        let plain = document.replace("&amp;", "&");
        for piece in ["Courses of Bäcker & Co", "help@example.com", "https://example.com/settings/keys?a=b&c=d"] {
            assert!(plain.contains(piece), "{piece}: {document}");
        }
        assert!(!document.contains("Course Catalogue Read API"), "{document}");
    }
    let page = documents(builder().docs_contact("help@example.com")).await.pop().unwrap();
    assert!(page.contains("<li><a href=\"mailto:help@example.com\">Support</a></li>"), "{page}");
}

#[tokio::test]
async fn unset_texts_are_omitted() {
    for document in documents(builder()).await {
        assert!(document.contains("Course Catalogue Read API"));
        for piece in ["web application", "eveloper settings", "mailto:", "Questions", "Support"] {
            assert!(!document.contains(piece), "{piece}");
        }
    }
}

/// A settings URL may contain characters for which Markdown needs angle brackets.
#[tokio::test]
async fn documents_link_to_the_developer_settings() {
    for (url, written) in [
        ("/settings", "/settings"),
        ("https://example.com/settings/", "https://example.com/settings/"),
        ("http://[::1]:8080/settings", "http://[::1]:8080/settings"),
        ("/settings(1)", "</settings(1)>"),
    ] {
        let mut documents = documents(builder().settings_url(url)).await;
        let page = documents.pop().unwrap();
        let tab = format!("<li><a href=\"{url}\">Developer settings</a></li>");
        assert_eq!(page.matches(&tab).count(), 2, "in the header and in the contents of narrow screens: {page}");
        assert!(page.contains(&format!("<a class=\"button\" href=\"{url}\">Get a key</a>")), "{page}");
        let link = format!("<a href=\"{url}\">developer settings</a>");
        assert_eq!(page.matches(&link).count(), 2, "in the quick start and under authentication: {page}");
        for document in documents {
            let unwrapped = document.replace("\\n", " ").replace('\n', " ");
            assert!(unwrapped.contains(&format!("[developer settings]({written})")), "{written}: {document}");
        }
    }
}

#[tokio::test]
async fn key_page_takes_precedence_over_developer_settings() {
    let named = || builder().docs_keys_url("/keys");
    assert_eq!(documents(named().settings_url("/settings")).await, documents(named()).await);
}

/// Recognizes no token, and reports an issuer and an audience.
#[derive(Debug)]
struct TokensOf(&'static str, &'static str);

#[async_trait]
impl Authenticator for TokensOf {
    async fn authenticate(&self, _: BearerToken<'_>) -> Result<Verdict, StorageError> {
        Ok(Verdict::Unrecognized)
    }

    fn issuer_and_audience(&self) -> Option<(&str, &str)> {
        (!self.0.is_empty()).then_some((self.0, self.1))
    }
}

/// Without issuers, the documents differ only in the sentences about them (decision O34).
#[tokio::test]
async fn issuer_and_audience_appear_with_token_explanations() {
    let issuers = || {
        let other = TokensOf("https://id.example.org", "catalogue");
        builder().or_authenticator(TokensOf("https://id.example.com", "<a&b>")).or_authenticator(other)
    };
    let sentences = " Access tokens are signed by `https://id.example.com` for the audience `<a&b>`. Access tokens are signed \
                     by `https://id.example.org` for the audience `catalogue`.";
    let sentences_of_the_page = sentences.replace("<a&b>", "&lt;a&amp;b&gt;");
    let parts: Vec<_> = sentences_of_the_page.split('`').collect();
    let [a, b, c, d, e, f, g, h, i] = parts[..] else { panic!("{parts:?}") };
    let page = format!("{a}<code>{b}</code>{c}<code>{d}</code>{e}<code>{f}</code>{g}<code>{h}</code>{i}");
    let unwrapped = |document: &str| document.replace("\\n", " ").replace('\n', " ");
    for (named, plain) in documents(issuers()).await.iter().zip(&documents(builder()).await) {
        let without = unwrapped(named).replace(sentences, "").replace(&page, "");
        assert!(without == unwrapped(plain), "{named}");
    }
    let [openapi, _, markdown, llms, page] = &documents(issuers()).await[..] else { panic!() };
    let document: Value = serde_json::from_str(openapi).unwrap();
    let scheme = document["components"]["securitySchemes"]["bearer"]["description"].as_str().unwrap();
    assert!(scheme.starts_with(&format!("An API key or an OAuth token.{sentences} It has scopes")), "{scheme}");
    for document in [document["info"]["description"].as_str().unwrap(), markdown, page] {
        assert_eq!(unwrapped(document).matches("Access tokens are signed by").count(), 2, "{document}");
    }
    assert!(!llms.contains("signed by"));
    for nothing in [TokensOf("", ""), TokensOf("a`b", "c"), TokensOf("a", "b\n")] {
        assert_eq!(documents(builder().or_authenticator(nothing)).await, documents(builder()).await);
    }
    let stored = StoredCredentials::new(MemoryStorage::new());
    assert_eq!(documents(builder().or_authenticator(stored)).await, documents(builder()).await);
}

#[tokio::test]
async fn served_documents_equal_generated_ones() {
    let catalogue = builder().docs_title("Mine").build().unwrap();
    for (format, path) in FORMATS.into_iter().zip(["openapi.json", "openapi-3.0.json", "openapi.md", "llms.txt"]) {
        let response = catalogue.call(Request::get(format!("/docs/{path}")).body(()).unwrap()).await;
        assert_eq!(response.body(), catalogue.document(format).as_bytes(), "{path}");
    }
    let mine = catalogue.mounted_at("/my").unwrap().document(DocumentFormat::Markdown);
    assert!(mine.starts_with("# Mine\n") && mine.contains("/my/courses"), "a mount has the same title");
}

#[test]
fn openapi_contact_is_the_configured_one() {
    let contact = |builder: CatalogueBuilder| {
        let document = builder.docs_title("Mine").build().unwrap().document(DocumentFormat::OpenApi);
        serde_json::from_str::<Value>(&document).unwrap()["info"]["contact"].take()
    };
    let page = "https://example.com/help";
    assert_eq!(contact(builder().docs_contact(page)), json!({ "name": "Mine", "url": page }));
    let mailbox = json!({ "name": "Mine", "email": "help@example.com" });
    assert_eq!(contact(builder().docs_contact("help@example.com")), mailbox);
    assert_eq!(contact(builder()), Value::Null);
}

#[test]
fn invalid_texts_and_urls_fail_the_build() {
    type Setter = fn(&str) -> CatalogueBuilder;
    type Refusal = fn(String) -> BuildError;
    type Texts = &'static [&'static str];
    let texts: [(Setter, Refusal, Texts, Texts); 3] = [
        (
            |title| builder().docs_title(title),
            BuildError::DocsTitle,
            &["Courses of A & B", "Kurse \u{fc}ber Brot (v1)"],
            &["", " ", "a\nb", "a`b", "[a](b)", "<b>"],
        ),
        (
            |contact| builder().docs_contact(contact),
            BuildError::DocsContact,
            &["help@example.com", "https://example.com/help?a=b#c"],
            // Brackets would end a link in Markdown.
            &[
                "http://[::1]:80/x",
                "",
                "help",
                "a@b@c",
                "@b",
                "a@",
                "mailto:a@b",
                "javascript:alert(1)",
                "/help",
                "https://",
                "a b@c",
            ],
        ),
        (
            |url| builder().docs_keys_url(url),
            BuildError::DocsKeysUrl,
            &["/settings", "https://example.com/keys", "/settings#keys"],
            &["", "settings", "//example.com", "javascript:x", "/a b", "/a)b", "/%zz", "ftp://a/b", "a@b"],
        ),
    ];
    for (set, error, valid, invalid) in texts {
        for text in valid {
            assert!(set(text).build().is_ok(), "{text}");
        }
        for text in invalid {
            assert_eq!(set(text).build().unwrap_err(), error((*text).to_owned()));
        }
    }
    let refused = |builder: CatalogueBuilder| builder.build().unwrap_err();
    assert!(refused(builder().docs_keys_url("keys")).to_string().contains("e.g. https://"));
    for wrong in ["", "settings", "//example.com", "javascript:x", "/a b", "/settings?a=b", "https://u:p@example.com/s"]
    {
        let error = refused(builder().settings_url(wrong));
        assert!(matches!(error, BuildError::SettingsUrl(_)), "{wrong}: {error:?}");
        assert!(error.to_string().starts_with("invalid settings URL"), "{error}");
        assert_eq!(refused(builder().docs_keys_url("/keys").settings_url(wrong)), error);
    }
}
