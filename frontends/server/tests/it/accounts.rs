//! `catalogue accounts`, and `export --account`.

use std::fs;
use std::io::Write as _;
use std::process::Command;

use serde_json::json;

use crate::program::{COURSES, Outcome, Server, TestDir};

/// Asserts that the commands work on the database of `command`, which contains [`COURSES`] and is served by `server`.
pub(crate) fn assert_account_commands_work(command: impl Fn(&str) -> Command, server: &Server) {
    let run = |arguments: &str| Outcome::from(command(arguments).output().unwrap());
    let create = |account: &str| run(&format!("keys create --account {account} --name n --scope read:courses --json"));
    let keys = [create("a").json(), create("a").json(), create("b").json()];
    run(&format!("keys revoke {}", keys[1]["id"].as_str().unwrap())).succeeds();
    let token = run("tokens create --account a --scope read:courses").succeeds();
    let [a, b] = [
        json!({ "id": "a", "name": "A", "email": "", "courses": 2, "keys": 1 }),
        json!({ "id": "b", "name": "", "email": "b@example.org", "courses": 1, "keys": 1 }),
    ];
    assert_eq!(run("accounts list --json").json(), json!([a, b]));
    assert_eq!(
        run("accounts list").succeeds(),
        "ID  NAME  COURSES  KEYS\na   A     2        1\nb         1        1\n"
    );
    assert_eq!(run("accounts show b --json").json(), b);
    assert_eq!(run("accounts show b").succeeds(), "id       b\nname\nemail    b@example.org\ncourses  1\nkeys     1\n");

    let lines: Vec<_> = COURSES.lines().collect();
    assert_eq!(run("export --account b").succeeds(), format!("{}\n{}\n", lines[1], lines[4]));
    assert_eq!(run("export --account b --account a --account b").succeeds(), COURSES);
    run("export --account a --account nobody").fails(1, &["no account \"nobody\"", "accounts list"]);

    let text = |key: &serde_json::Value| key["token"].as_str().unwrap().to_owned();
    let tokens = [text(&keys[0]), token.trim_end().to_owned()];
    for token in &tokens {
        assert_eq!(server.get("/api/v1/courses/one", token).0, 200);
    }
    // Confirmation requires a terminal.
    run("accounts remove a").fails(2, &["pass --yes"]);
    assert_eq!(run("accounts show a --json").json(), a);
    let removed = run("accounts remove a --yes --json").json();
    let counts = ["id", "courses", "modules", "keys", "tokens"].map(|field| removed[field].clone());
    assert_eq!(counts, [json!("a"), json!(2), json!(1), json!(2), json!(1)]);
    assert_eq!(removed["activeKeys"], a["keys"]);
    for token in &tokens {
        let (status, refusal) = server.get("/api/v1/courses/one", token);
        assert_eq!((status, &refusal["error"]["details"]["reason"]), (401, &json!("invalid")));
    }
    assert_eq!(server.get("/api/v1/courses/one", &text(&keys[2])).1["data"]["title"], "Other");
    assert_eq!(run("accounts list --json").json(), json!([b]));
    assert_eq!(run("export").succeeds(), format!("{}\n{}\n", lines[1], lines[4]));
    for arguments in ["accounts remove a --yes", "accounts show a", "keys list --account a", "export --account a"] {
        run(arguments).fails(1, &["no account \"a\"; see `accounts list`"]);
    }
    let message = run("accounts remove b --yes").succeeds();
    assert!(message.starts_with("b was removed, with 1 course, 0 modules, 1 key and 0 tokens\n"), "{message}");
    assert!(message.contains("data in backups, exports and logs is not removed"), "{message}");
    assert_eq!(run("accounts list --json").json(), json!([]));
}

#[test]
fn accounts_are_listed_shown_and_removed() {
    let dir = TestDir::with_courses();
    let server = Server::start(&mut dir.command("serve --listen 127.0.0.1:0 --log off"));
    assert_account_commands_work(|arguments| dir.command(arguments), &server);
}

/// Searches all files of the database while a server has it open.
#[test]
fn account_removal_leaves_no_bytes() {
    let dir = TestDir::new();
    let course = |round: usize, account: &str, number: usize| {
        let body = format!("body of {account} in round {round}. ").repeat(number % 50);
        format!(
            r#"{{"type":"course","account":"{account}","slug":"{account}-{number}","title":"title of {account}","language":"en","createdAt":"20{:02}-01-01T00:00:00Z","modules":[{{"title":"m","content":"{body}"}}]}}"#,
            number * 7 % 25
        )
    };
    for round in 0..2 {
        let accounts =
            ["left", "gone"].map(|id| format!(r#"{{"type":"account","id":"{id}","email":"{id}@example.org"}}"#));
        let courses = (0..300).map(|number| course(round, ["left", "gone"][number % 2], number));
        let text: Vec<_> = accounts.into_iter().chain(courses).collect();
        dir.run_reading(&text.join("\n"), "import -").succeeds();
    }
    let server = Server::start(&mut dir.command("serve --listen 127.0.0.1:0 --log off"));
    let key = dir.run("keys create --account gone --name n --scope read:courses").succeeds();
    assert_eq!(server.get("/api/v1/courses", key.trim_end()).0, 200);
    let count = |text: &str| -> usize {
        let files = dir.files().into_iter().map(|name| fs::read(dir.path(&name)).unwrap());
        files.map(|bytes| bytes.windows(text.len()).filter(|window| *window == text.as_bytes()).count()).sum()
    };
    assert!(["title of gone", "gone@example.org", "body of gone"].iter().all(|text| count(text) > 0));
    assert_eq!(dir.run("accounts remove gone --yes --json").json()["remains"], json!(null));
    assert_eq!(server.get("/api/v1/courses", key.trim_end()).0, 401);
    for lost in ["title of gone", "gone@example.org", "body of gone", "gone"] {
        assert_eq!(count(lost), 0, "{lost}");
    }
    assert!(count("title of left") > 100);
}

/// The command succeeds, since the account is removed. `remains` states why its data may still be in the files.
#[test]
fn removal_reports_remaining_data_while_database_is_read() {
    let dir = TestDir::new();
    dir.write("courses.jsonl", "{\"type\":\"account\",\"id\":\"a\"}\n{\"type\":\"account\",\"id\":\"b\"}\n");
    dir.run("import courses.jsonl").succeeds();
    let reader = rusqlite::Connection::open(dir.path("catalogue.db")).unwrap();
    reader.execute_batch("BEGIN; SELECT * FROM accounts").unwrap();
    let message = dir.run("accounts remove a --yes").succeeds();
    assert!(message.contains("\nremaining data: ") && message.contains("is still reading the old state"), "{message}");
    let remains = dir.run("accounts remove b --yes --json").json()["remains"].take();
    assert!(remains.as_str().unwrap().contains("is still reading the old state"), "{remains}");
}

/// SQLite needs a temporary file to remove many rows. A read-only root has no directory for temporary files.
#[cfg(target_os = "linux")]
#[test]
fn removal_without_temporary_directory_fails_with_hint() {
    // The mounts may hide the program's file, so the script first opens the file as descriptor 9.
    const SCRIPT: &str = r#"exec 9<"$2" && mount --bind . /mnt || exit 9
        for directory in /tmp /var/tmp /usr/tmp; do
            [ ! -d $directory ] || mount -t tmpfs -o ro none $directory || exit 9
        done
        cd $1 && shift 2 && exec /proc/self/fd/9 "$@""#;
    let dir = TestDir::new();
    let course = |number| {
        let body = "x".repeat(3000);
        format!(
            r#"{{"type":"course","account":"a","slug":"{number}","title":"t","language":"en","modules":[{{"title":"m","content":"{body}"}}]}}"#
        )
    };
    let lines = [r#"{"type":"account","id":"a"}"#.to_owned()].into_iter().chain((0..50).map(course));
    dir.run_reading(&lines.collect::<Vec<_>>().join("\n"), "import -").succeeds();
    // SQLite tries the working directory last. It rejects the read-only `/tmp` beforehand, but accepts `/proc`, in which it
    // cannot create a file.
    for working_directory in ["/tmp", "/proc"] {
        let program = dir.command("accounts remove a --yes --database sqlite:/mnt/catalogue.db");
        let mut unshared = Command::new("unshare");
        unshared.args(["--map-root-user", "--mount", "sh", "-c", SCRIPT, "sh", working_directory]);
        unshared.arg(program.get_program()).args(program.get_args());
        unshared.current_dir(dir.path("")).env_remove("TMPDIR").env_remove("SQLITE_TMPDIR");
        let outcome = Outcome::from(unshared.output().unwrap());
        if outcome.status == Some(9) || outcome.err.starts_with("unshare: ") {
            std::io::stderr().write_all(b"skipped: a removal without TMPDIR: no file system can be mounted\n").unwrap();
            return;
        }
        outcome.fails(1, &["nothing was changed: ", " set TMPDIR or SQLITE_TMPDIR to a writable directory"]);
    }
    dir.run("accounts remove a --yes").succeeds();
}

/// `accounts show` counts only active keys; the removal counts all keys of the account.
#[test]
fn removal_reports_number_of_active_keys() {
    let dir = TestDir::with_courses();
    let keys = [(); 4].map(|()| dir.run("keys create --account a --name n --scope read:courses --json").json());
    for key in &keys[..2] {
        dir.run(&format!("keys revoke {}", key["id"].as_str().unwrap())).succeeds();
    }
    assert_eq!(dir.run("accounts show a --json").json()["keys"], 2);
    let message = dir.run("accounts remove a --yes").succeeds();
    assert!(
        message.starts_with("a was removed, with 2 courses, 1 module, 4 keys (2 active) and 0 tokens\n"),
        "{message}"
    );
}

#[test]
fn removal_fails_when_other_table_references_account() {
    let dir = TestDir::with_courses();
    let host = "CREATE TABLE notes (account TEXT REFERENCES accounts (id)); INSERT INTO notes VALUES ('a')";
    rusqlite::Connection::open(dir.path("catalogue.db")).unwrap().execute_batch(host).unwrap();
    let message = "nothing was changed: another table still refers to the account: FOREIGN KEY";
    dir.run("accounts remove a --yes").fails(1, &[message]);
    assert_eq!(dir.export(), COURSES);
}

#[test]
fn unknown_account_is_not_printed_when_it_resembles_token() {
    let dir = TestDir::with_courses();
    for command in ["accounts show", "accounts remove --yes", "export --account"] {
        let outcome = dir.run(&format!("{command} ccat_perhaps_a_token"));
        assert!(!outcome.err.contains("ccat_perhaps"), "{outcome:?}");
        outcome.fails(1, &["no such account; see `accounts list`"]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn removal_asks_for_confirmation_on_terminal() {
    use crate::terminal::Terminal;

    let dir = TestDir::with_courses();
    let response = |typed: &str, arguments: &str| {
        let terminal = Terminal::with_width(80);
        let mut command = dir.command(arguments);
        command.stdin(terminal.end()).stderr(terminal.end()).stdout(terminal.end());
        terminal.types(typed);
        terminal.run(&mut command)
    };
    let question = "Remove a (\"A\") with 2 courses and 0 active keys? [y/N]";
    for typed in ["n\n", "\n", "yesterday\n", "\u{4}"] {
        let (status, displayed) = response(typed, "accounts remove a");
        assert!(status == Some(1) && displayed.contains(question), "{typed:?}: {displayed}");
        assert!(displayed.contains("nothing was removed"), "{displayed}");
    }
    let (status, displayed) = response("y\n", "accounts remove nobody");
    assert!(
        status == Some(1) && displayed.contains("no account \"nobody\"") && !displayed.contains("[y/N]"),
        "{displayed}"
    );
    assert_eq!(dir.run("accounts list --json").json().as_array().unwrap().len(), 2);
    let (status, displayed) = response("Yes\n", "accounts remove a");
    assert!(status == Some(0) && displayed.contains("a was removed, with 2 courses, 1 module"), "{displayed}");
    assert_eq!(dir.run("accounts list --json").json().as_array().unwrap().len(), 1);
}
