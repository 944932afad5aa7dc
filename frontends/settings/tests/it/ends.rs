//! Expiry of a key whose owner chose a day: the key expires at the end of that day, in UTC.

use crate::app::App;

#[tokio::test]
async fn expiry_is_shown_as_chosen_day() {
    let app = App::new().await;
    for (day, event) in [("2027-05-01", "20270417"), ("2026-11-30", "20261130")] {
        let nonce = app.nonce("/settings/keys/new").await;
        let fields = [("nonce", &*nonce), ("name", day), ("scope", "read:courses"), ("expires", "date"), ("date", day)];
        let created = app.post("/settings/keys", &fields).await;
        assert_eq!(created.status, 201);
        let id = created.body.split("/settings/keys/").nth(1).unwrap().split('/').next().unwrap();
        let file = app.get(&format!("/settings/keys/{id}/reminder.ics")).await;
        file.shows(&format!("DTSTART;VALUE=DATE:{event}\r\n"));
        file.shows(&format!("ends on {day}"));
    }
    let list = app.get("/settings").await;
    list.shows("title=\"2027-05-02T00:00:00.000Z\">on 2027-05-01</time>");
}
