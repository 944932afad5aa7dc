//! What the benchmarks share: a database of any size, and a caller who reads it.

use catalogue_core::{
    Account, AccountId, AdminStorage, Catalogue, Course, CourseModule, CredentialKind, CredentialRecord, Identity,
    NewCredential, NewToken, Scopes, StorageError, Timestamp,
};
use catalogue_sqlite::SqliteStorage;
use http::{Request, StatusCode};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

/// A catalogue over an SQLite file with one account's courses, and a key that reads them.
#[derive(Debug)]
pub struct Library {
    runtime: Runtime,
    catalogue: Catalogue,
    authorization: String,
    _directory: TempDir,
}

impl Library {
    /// A library of that many courses of one account, five modules each; eight courses share each second of creation.
    ///
    /// # Panics
    /// When the temporary directory or its database fails.
    #[must_use]
    pub fn with_courses(count: usize) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let storage = SqliteStorage::open_and_migrate(directory.path().join("catalogue.db")).expect("a database");
        let runtime = Builder::new_current_thread().build().expect("a runtime");
        let token = NewToken::mint(CredentialKind::ApiKey);
        runtime.block_on(fill(&storage, count, &token)).expect("the courses are written");
        let catalogue = Catalogue::with_api_keys(storage).build().expect("the defaults are right");
        let authorization = format!("Bearer {}", token.expose());
        Self { runtime, catalogue, authorization, _directory: directory }
    }

    /// Reads `target` and returns the answer's body.
    ///
    /// # Panics
    /// When the answer is no 200.
    #[must_use]
    pub fn get(&self, target: &str) -> bytes::Bytes {
        let request = Request::get(target).header("authorization", &self.authorization).body(()).expect("a request");
        let response = self.runtime.block_on(self.catalogue.call(request));
        assert_eq!(response.status(), StatusCode::OK, "{target}");
        response.into_body()
    }

    /// The address of the page of fifty that begins after so many pages of a hundred.
    ///
    /// # Panics
    /// When the list ends before.
    #[must_use]
    pub fn page_after(&self, pages: usize) -> String {
        let mut target = "/api/v1/courses?limit=100".to_owned();
        let mut cursor = String::new();
        for _ in 0..pages {
            let page: serde_json::Value = serde_json::from_slice(&self.get(&target)).expect("an envelope");
            cursor = page["meta"]["nextCursor"].as_str().expect("a further page").to_owned();
            target = format!("/api/v1/courses?limit=100&cursor={cursor}");
        }
        if cursor.is_empty() { "/api/v1/courses".to_owned() } else { format!("/api/v1/courses?cursor={cursor}") }
    }
}

async fn fill(storage: &SqliteStorage, count: usize, token: &NewToken) -> Result<(), StorageError> {
    let account = AccountId::new("acc");
    let mut import = storage.begin_import().await?;
    import.put_account(&Account { id: account.clone(), name: String::new(), email: String::new() }).await?;
    for number in 0..count {
        import.put_course(&course(&account, number)).await?;
    }
    import.commit().await?;
    let record = CredentialRecord {
        identity: Identity {
            account,
            kind: CredentialKind::ApiKey,
            credential_id: "key_bench".to_owned(),
            scopes: Scopes::from_names(["read:courses"]),
        },
        name: None,
        shown_prefix: token.shown_prefix().to_owned(),
        created_at: Timestamp::now(),
        expires_at: None,
        revoked_at: None,
    };
    storage.create_credential(&NewCredential { digest: token.digest(), record }).await
}

fn course(account: &AccountId, number: usize) -> Course {
    let created_at = 1_600_000_000_000_000 + (number as i64 / 8) * 1_000_000;
    let module = |number: usize| CourseModule {
        title: format!("Part {number}: what to look for"),
        summary: "What this part is about, in one line.".to_owned(),
        content: "The body of the part. ".repeat(10),
    };
    Course {
        account: account.clone(),
        slug: format!("course-with-a-usual-slug-{number:07}"),
        title: format!("Course {number}: a title of the usual length"),
        tagline: "One line that says what the course is.".to_owned(),
        language: "en".to_owned(),
        created_at: Timestamp::from_microseconds(created_at).expect("a year near ours"),
        published_at: Timestamp::from_microseconds(created_at + 86_400_000_000),
        hidden: false,
        access_mode: None,
        modules: (1..=5).map(module).collect(),
    }
}
