//! `catalogue accounts`, and `export --account`.

use std::fs;
use std::process::Command;

use serde_json::json;

use crate::databases::on_each_database;
use crate::program::{COURSES, Outcome, TestDir, many_courses};
use crate::skip::or_skip_unless;

on_each_database!(accounts_are_listed_shown_and_removed, removal_fails_when_other_table_references_account);

fn accounts_are_listed_shown_and_removed(dir: &TestDir) {
    dir.import(COURSES);
    let server = dir.serve("--log off");
    let [(_, kept), (revoked, _), (_, of_b)] = ["a", "a", "b"].map(|account| dir.key(account));
    dir.run(&format!("keys revoke {revoked}")).succeeds();
    let token = dir.run("tokens create --account a --scope read:courses").succeeds();
    let [a, b] = [
        json!({ "id": "a", "name": "A", "email": "", "courses": 2, "keys": 1 }),
        json!({ "id": "b", "name": "", "email": "b@example.org", "courses": 1, "keys": 1 }),
    ];
    assert_eq!(dir.run("accounts list --json").json(), json!([a, b]));
    let table = "ID  NAME  COURSES  KEYS\na   A     2        1\nb         1        1\n";
    assert_eq!(dir.run("accounts list").succeeds(), table);
    assert_eq!(dir.run("accounts show b --json").json(), b);
    let fields = "id       b\nname\nemail    b@example.org\ncourses  1\nkeys     1\n";
    assert_eq!(dir.run("accounts show b").succeeds(), fields);

    let lines: Vec<_> = COURSES.lines().collect();
    let export_of_b = format!("{}\n{}\n", lines[1], lines[4]);
    assert_eq!(dir.run("export --account b").succeeds(), export_of_b);
    assert_eq!(dir.run("export --account b --account a --account b").succeeds(), COURSES);
    dir.run("export --account a --account nobody").fails(1, &["no account \"nobody\"", "accounts list"]);

    let tokens = [&*kept, token.trim_end()];
    for token in tokens {
        assert_eq!(server.get("/api/v1/courses/one", token).0, 200);
    }
    // Confirmation requires a terminal.
    dir.run("accounts remove a").fails(2, &["pass --yes"]);
    assert_eq!(dir.run("accounts show a --json").json(), a);
    // `accounts show` counts only active keys; the removal counts all keys of the account.
    let mut removed = dir.run("accounts remove a --yes --json").json();
    let remains = removed.as_object_mut().unwrap().remove("remains").unwrap();
    assert_eq!(removed, json!({ "id": "a", "courses": 2, "modules": 1, "keys": 2, "activeKeys": 1, "tokens": 1 }));
    assert_eq!(remains.is_string(), dir.is_postgres(), "{remains}");
    for token in tokens {
        let (status, refusal) = server.get("/api/v1/courses/one", token);
        assert_eq!((status, &refusal["error"]["details"]["reason"]), (401, &json!("invalid")));
    }
    assert_eq!(server.get("/api/v1/courses/one", &of_b).1["data"]["title"], "Other");
    assert_eq!(dir.run("accounts list --json").json(), json!([b]));
    assert_eq!(dir.export(), export_of_b);
    for arguments in ["accounts remove a --yes", "accounts show a", "keys list --account a", "export --account a"] {
        dir.run(arguments).fails(1, &["no account \"a\"; see `accounts list`"]);
    }
    let message = dir.run("accounts remove b --yes").succeeds();
    assert!(message.starts_with("b was removed, with 1 course, 0 modules, 1 key and 0 tokens\n"), "{message}");
    assert!(message.contains("data in backups, exports and logs is not removed"), "{message}");
    let remaining = "\nremaining data: PostgreSQL keeps removed rows";
    assert_eq!(message.contains(remaining), dir.is_postgres(), "{message}");
    assert_eq!(dir.run("accounts list --json").json(), json!([]));
    for table in ["accounts", "courses", "modules", "module_contents", "credentials"] {
        assert_eq!(dir.host().texts(&format!("SELECT CAST(count(*) AS TEXT) FROM {table}")), ["0"], "{table}");
    }
    // PostgreSQL has no files in the directory.
    for name in dir.files().iter().filter(|name| name.starts_with("catalogue.db")) {
        let bytes = fs::read(dir.path(name)).unwrap();
        let contains = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
        assert!(!["Zwei", "a body", "b@example.org"].into_iter().any(contains), "{name} contains removed data");
    }
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
    dir.run_reading(many_courses(50, 3000), "import -").succeeds();
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
            or_skip_unless::<()>("mount", Err("not permitted".to_owned()));
            return;
        }
        outcome.fails(1, &["nothing was changed: ", " set TMPDIR or SQLITE_TMPDIR to a writable directory"]);
    }
    dir.run("accounts remove a --yes").succeeds();
}

fn removal_fails_when_other_table_references_account(dir: &TestDir) {
    dir.import(COURSES);
    dir.host().run("CREATE TABLE notes (account TEXT REFERENCES accounts (id)); INSERT INTO notes VALUES ('a')");
    let message = "nothing was changed: another table still refers to the account: ";
    dir.run("accounts remove a --yes").fails(1, &[message]);
    assert_eq!(dir.export(), COURSES);
}

#[cfg(target_os = "linux")]
#[test]
fn removal_asks_for_confirmation_on_terminal() {
    use crate::terminal::Terminal;

    let dir = TestDir::with_courses();
    let [(revoked, _), _] = ["a", "a"].map(|account| dir.key(account));
    dir.run(&format!("keys revoke {revoked}")).succeeds();
    let response = |typed: &str, arguments: &str| {
        let terminal = Terminal::with_width(80);
        let mut command = dir.command(arguments);
        command.stdin(terminal.end()).stderr(terminal.end()).stdout(terminal.end());
        terminal.types(typed);
        terminal.run(&mut command)
    };
    let question = "Remove a (\"A\") with 2 courses and 1 active key? [y/N]";
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
    let message = "a was removed, with 2 courses, 1 module, 2 keys (1 active) and 0 tokens";
    assert!(status == Some(0) && displayed.contains(message), "{displayed}");
    assert_eq!(dir.run("accounts list --json").json().as_array().unwrap().len(), 1);
}
