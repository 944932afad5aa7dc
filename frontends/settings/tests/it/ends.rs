//! The end of a key whose owner chose a day, which has an instant at midnight.

use crate::app::App;

#[tokio::test]
async fn the_chosen_day_is_named_and_not_the_one_after() {
    let app = App::new().await;
    for (day, event) in [("2027-05-01", "20270417"), ("2026-11-30", "20261130")] {
        let nonce = app.nonce("/settings/keys/new").await;
        let fields = [("nonce", &*nonce), ("name", day), ("scope", "read:courses"), ("expires", "date"), ("date", day)];
        let made = app.post("/settings/keys", &fields).await;
        assert_eq!(made.status, 201);
        let id = made.body.split("/settings/keys/").nth(1).unwrap().split('/').next().unwrap();
        let file = app.get(&format!("/settings/keys/{id}/reminder.ics")).await;
        file.shows(&format!("DTSTART;VALUE=DATE:{event}\r\n"));
        file.shows(&format!("ends on {day}"));
    }
    let list = app.get("/settings").await;
    list.shows("title=\"2027-05-02T00:00:00.000Z\">on 2027-05-01</time>");
}
