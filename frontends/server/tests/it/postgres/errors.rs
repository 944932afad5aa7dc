//! A database that is slow under `serve`, or returns an error of several lines.

use crate::program::{Server, TestDir};

#[test]
fn requests_return_500_when_database_times_out_and_recover() {
    let Some(fixture) = TestDir::postgres_with_courses() else { return };
    let (_, token) = fixture.key("a");
    let mut command = fixture.command("serve --listen 127.0.0.1:0 --database-timeout 1s --log off");
    let server = Server::start(&mut command);
    let host = fixture.host();
    for table in ["courses", "credentials"] {
        host.run(&format!("BEGIN; LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE"));
        let (status, body) = server.get("/api/v1/courses", &token);
        assert_eq!((status, &body["error"]["code"]), (500, &"internal_error".into()), "{body}");
        host.run("ROLLBACK");
        while server.get("/api/v1/courses", &token).0 != 200 {}
    }
}

#[test]
fn multiline_database_error_is_printed_on_one_line() {
    let Some(fixture) = TestDir::postgres_with_courses() else { return };
    let refuse = r"CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        RAISE EXCEPTION E'refused\n\tIs the server running?' USING DETAIL = 'A detail.', ERRCODE = '08006';
    END $$; CREATE TRIGGER refuse BEFORE INSERT ON credentials EXECUTE FUNCTION refuse()";
    fixture.host().run(refuse);
    let outcome = fixture.run("keys create --account a --name n --scope read:courses");
    assert_eq!((outcome.status, outcome.err.lines().count()), (Some(1), 1), "{}", outcome.err);
    assert!(outcome.err.contains("refused Is the server running? DETAIL: A detail."), "{}", outcome.err);
}
