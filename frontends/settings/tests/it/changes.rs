//! The changes of one key among those of an account.

use catalogue_core::storage::{Actor, KeyStorage};

use crate::app::App;

#[tokio::test]
async fn what_is_too_old_to_be_found_is_said() {
    let app = App::new().await;
    let (old, other) = (app.make("old").await, app.make("other").await);
    let page = format!("/settings/keys/{}", old["id"].as_str().unwrap());
    let whole = app.get(&page).await;
    whole.shows("Key created");
    whole.hides("Older changes");
    for number in 0..1000 {
        let id = other["id"].as_str().unwrap();
        app.storage.rename_key(&"anna".into(), id, &number.to_string(), &Actor::OWNER).await.unwrap();
    }
    let page = app.get(&page).await;
    page.hides("Key created");
    page.shows("Older changes are not shown.");
}
