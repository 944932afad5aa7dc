//! What the compiler says to a host that left something out. A doctest that does not compile cannot hold words.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The crates that these tests were linked with, and of those of this crate the one that was built last.
fn dependencies() -> (PathBuf, PathBuf) {
    let directory = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let entries = fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap());
    let is_core = |name: &str| name.starts_with("libcatalogue_core-") && name.ends_with(".rlib");
    let built = entries.filter(|entry| is_core(&entry.file_name().to_string_lossy()));
    let newest = built.max_by_key(|entry| entry.metadata().unwrap().modified().unwrap());
    (newest.expect("the crate is beside its tests").path(), directory)
}

/// What rustc says of a host's crate, on one line.
fn refused(source: &str) -> String {
    let (core, directory) = dependencies();
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.args(["--edition=2024", "--crate-type=lib", "--crate-name=host", "--emit=metadata", "-o", "/dev/null", "-"]);
    rustc.arg("--extern").arg(format!("catalogue_core={}", core.display()));
    rustc.arg("-L").arg(format!("dependency={}", directory.display()));
    let mut running = rustc.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    running.stdin.take().unwrap().write_all(source.as_bytes()).unwrap();
    let output = running.wait_with_output().unwrap();
    let words = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success(), "{words}");
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn assert_output_contains(source: &str, words: &[&str]) {
    let output = refused(source);
    for words in words {
        assert!(output.contains(words), "{words:?} is not in: {output}");
    }
}

/// A host's crate whose `Workshops` store courses, with that function beside them.
fn with_courses(function: &str) -> String {
    format!(
        "use catalogue_core::{{AccountId, Catalogue, CourseDetail, async_trait, storage::*}};
        #[derive(Debug)]
        pub struct Workshops;
        #[async_trait]
        impl CourseStorage for Workshops {{
            async fn list_courses(&self, _: &AccountId, _: &PageRequest, _: &mut CourseRows<'_>)
                -> Result<Option<Revision>, StorageError> {{ todo!() }}
            async fn find_course(&self, _: &AccountId, _: &str)
                -> Result<AtRevision<Option<CourseDetail>>, StorageError> {{ todo!() }}
        }}
        {function}"
    )
}

#[test]
fn a_storage_without_keys_is_led_to_the_builder() {
    assert_output_contains(
        &with_courses("pub fn build() { let _ = Catalogue::with_api_keys(Workshops); }"),
        &[
            "`Workshops` looks no API keys up: it does not implement `CredentialStorage`",
            "implement `find_credential`, with `#[catalogue_core::async_trait]`",
            "build with `Catalogue::builder(courses, authenticator)`",
        ],
    );
}

#[test]
fn what_is_no_storage_of_courses_is_told_what_to_implement() {
    assert_output_contains(
        "#[derive(Debug)] pub struct Keys;
        pub fn build() { let _ = catalogue_core::Catalogue::with_api_keys(Keys); }",
        &["`Keys` is no storage of courses", "implement `list_courses` and `find_course`"],
    );
}

#[test]
fn what_is_no_authenticator_is_led_to_those_there_are() {
    assert_output_contains(
        &with_courses("pub fn build() { let _ = Catalogue::builder(Workshops, Workshops); }"),
        &[
            "`Workshops` does not say whose a token is: it does not implement `Authenticator`",
            "implement `authenticate`",
            "`StoredCredentials::new(storage)`",
            "`Catalogue::with_api_keys(storage)`",
        ],
    );
}

/// The documentation of the crate has these words, for whoever searches for them.
#[test]
fn a_forgotten_macro_looks_as_the_documentation_says() {
    let storage = with_courses("").replace("#[async_trait]", "");
    let authenticator = "use catalogue_core::{auth::*, storage::StorageError};
        #[derive(Debug)]
        pub struct Sessions;
        impl Authenticator for Sessions {
            async fn authenticate(&self, _: BearerToken<'_>) -> Result<Verdict, StorageError> { todo!() }
        }";
    for source in [&*storage, authenticator] {
        assert_output_contains(source, &["error[E0195]: lifetime parameters", "do not match the trait"]);
    }
}

#[test]
fn an_identity_is_made_by_its_constructors() {
    assert_output_contains(
        "use catalogue_core::{AccountId, auth::*};
        pub fn identity(account: AccountId) -> Identity {
            Identity { account, kind: CredentialKind::Session, credential_id: \"1\".into(), scopes: Scopes::default() }
        }",
        &["error[E0639]"],
    );
}
