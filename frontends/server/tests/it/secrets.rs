//! Tokens, which the program prints once and stores nowhere.

use std::fs;
use std::process::Stdio;

use crate::program::{Server, TestDir, text};

/// Log filter for all events of the program and its libraries.
pub(crate) const ALL_EVENTS: &str = "trace,deadpool=trace,h2=trace,hyper=trace,rustls=trace,tokio=trace,warp=trace";

#[test]
fn files_logs_and_lists_contain_no_tokens() {
    let dir = TestDir::with_courses();
    let (id, key) = dir.key("a");
    let mut tokens = vec![key];
    let create = "tokens create --account a --scope read:courses";
    tokens.push(dir.run(create).succeeds().trim_end().to_owned());

    let mut server =
        Server::start(dir.command(&format!("serve --listen 127.0.0.1:0 --log {ALL_EVENTS}")).stderr(Stdio::piped()));
    let notes = server.take_notes();
    tokens.push(dir.run(&format!("keys rotate {id} --overlap 1h")).succeeds().trim_end().to_owned());
    let rotate = format!("keys rotate {} --overlap 0s --json", text(&dir.listed(&id), "replacedBy"));
    tokens.push(dir.run(&rotate).json()["token"].as_str().unwrap().to_owned());
    let (start, last) = tokens[0].split_at(53);
    let mistyped = format!("{start}{}", if last == "0" { "1" } else { "0" });
    for (token, status) in tokens.iter().zip([200, 200, 401, 200]).chain([(&mistyped, 401)]) {
        assert_eq!(server.get("/api/v1/courses", token).0, status);
    }
    tokens.push(mistyped);
    // While the server has the database open, its WAL and the WAL index exist too.
    let files: Vec<_> = dir.files().into_iter().map(|name| (fs::read(dir.path(&name)).unwrap(), name)).collect();
    assert!(files.len() >= 4, "{:?}", dir.files());
    assert_eq!(server.stop_with("TERM").0, Some(0));
    let log: String = notes.map(|line| line.unwrap() + "\n").collect();
    let lists = dir.run("keys list --account a").succeeds() + &dir.run("keys list --account a --json").succeeds();
    let after = fs::read(dir.path("catalogue.db")).unwrap();

    let texts = files.iter().map(|(bytes, name)| (&**bytes, &**name));
    let more = [(log.as_bytes(), "the log"), (lists.as_bytes(), "the lists"), (&*after, "the database at last")];
    for (bytes, name) in texts.chain(more) {
        for token in &tokens {
            // A token without its prefix and its checksum is equally secret.
            let secret = &token.as_bytes()[8..48];
            assert!(!bytes.windows(secret.len()).any(|window| window == secret), "{name}");
        }
    }
    // The searched texts are complete: the log contains the shutdown, the lists a prefix, and a file the key's id.
    assert!(log.contains("stopping") && lists.contains(&tokens[0][..8]));
    assert!(files.iter().any(|(bytes, _)| bytes.windows(id.len()).any(|window| window == id.as_bytes())));
}
