//! Compiler messages for mistakes of a host application. A `compile_fail` doctest can check only the error code.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Returns the newest build of this crate, and the directory of the crates that these tests were linked with.
fn dependencies() -> (PathBuf, PathBuf) {
    let directory = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let entries = fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap());
    let is_core = |name: &str| name.starts_with("libcatalogue_core-") && name.ends_with(".rlib");
    let built = entries.filter(|entry| is_core(&entry.file_name().to_string_lossy()));
    let newest = built.max_by_key(|entry| entry.metadata().unwrap().modified().unwrap());
    (newest.expect("the crate is next to its tests").path(), directory)
}

/// Asserts that rustc's output for a host application contains all texts in `expected`, ignoring line breaks.
#[track_caller]
fn assert_output_contains(source: &str, expected: &[&str]) {
    let (core, directory) = dependencies();
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    // Written to a directory: as root, rustc would replace the device if the output were `/dev/null`.
    rustc.args(["--edition=2024", "--crate-type=lib", "--crate-name=host", "--emit=metadata", "--out-dir"]);
    rustc.args([env!("CARGO_TARGET_TMPDIR"), "-"]);
    rustc.arg("--extern").arg(format!("catalogue_core={}", core.display()));
    rustc.arg("-L").arg(format!("dependency={}", directory.display()));
    let mut running = rustc.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    running.stdin.take().unwrap().write_all(source.as_bytes()).unwrap();
    let output = running.wait_with_output().unwrap();
    let words = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success(), "{words}");
    let output = words.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in expected {
        assert!(output.contains(words), "{words:?} is not in: {output}");
    }
}

/// Returns the source of a host application whose `Workshops` store courses, with `function` after them.
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
fn missing_impl_suggests_what_to_implement() {
    for (source, words) in [
        (
            with_courses("pub fn build() { let _ = Catalogue::with_api_keys(Workshops); }"),
            &[
                "`Workshops` cannot look up API keys: it does not implement `CredentialStorage`",
                "implement `find_credential`, with `#[catalogue_core::async_trait]`",
                "build with `Catalogue::builder(courses, authenticator)`",
            ][..],
        ),
        (
            "#[derive(Debug)] pub struct Keys;
            pub fn build() { let _ = catalogue_core::Catalogue::with_api_keys(Keys); }"
                .to_owned(),
            &["`Keys` is not a course storage", "implement `list_courses` and `find_course`"],
        ),
        (
            with_courses("pub fn build() { let _ = Catalogue::builder(Workshops, Workshops); }"),
            &[
                "`Workshops` cannot authenticate tokens: it does not implement `Authenticator`",
                "implement `authenticate`",
                "`StoredCredentials::new(storage)`",
                "`Catalogue::with_api_keys(storage)`",
            ],
        ),
    ] {
        assert_output_contains(&source, words);
    }
}

/// The documentation of the crate quotes this message for readers who search for it.
#[test]
fn missing_async_trait_macro_has_documented_error() {
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
fn identity_cannot_be_built_by_a_literal() {
    assert_output_contains(
        "use catalogue_core::{AccountId, auth::*};
        pub fn identity(account: AccountId) -> Identity {
            Identity { account, kind: CredentialKind::Session, credential_id: \"1\".into(), scopes: Scopes::default() }
        }",
        &["error[E0639]"],
    );
}
