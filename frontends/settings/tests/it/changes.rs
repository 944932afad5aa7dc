//! Changes of one key among those of its account.

use catalogue_core::admin::NewCredential;
use catalogue_core::auth::Scopes;
use catalogue_core::storage::{Actor, KeyStorage};

use crate::app::App;

#[tokio::test]
async fn key_page_reports_unlisted_older_changes() {
    let app = App::new().await;
    let old = app.make("old").await;
    let page = format!("/settings/keys/{}", old["id"].as_str().unwrap());
    let complete = app.get(&page).await;
    complete.shows("Key created");
    complete.hides("Older changes");
    for number in 0..1000 {
        let scopes = Scopes::from_names(["read:courses"]);
        let (_, key) = NewCredential::api_key("anna".into(), number.to_string(), scopes);
        app.storage.create_key(&key, &Actor::OPERATOR).await.unwrap();
    }
    let page = app.get(&page).await;
    page.hides("Key created");
    page.shows("Older changes are not shown.");
}
