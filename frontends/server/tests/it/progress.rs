//! Progress, displayed only on terminals.

use std::fs::File;
use std::io::Read as _;
use std::process::Stdio;

use crate::program::{COURSES, TestDir};
use crate::terminal::Terminal;

#[test]
fn progress_is_displayed_on_terminal() {
    let dir = TestDir::new();
    dir.write("courses.jsonl", COURSES);
    for (arguments, work) in [
        ("import courses.jsonl --dry-run", &["reading [", "comparing [", " %", " of ", "B/s", " left"][..]),
        ("import courses.jsonl", &["reading [", "writing ["]),
        ("backup copy.db", &["copying [", " %", " left"]),
    ] {
        let (status, displayed) =
            Terminal::run_on_stderr(dir.command(arguments).env("TERM", "xterm").stdout(Stdio::null()));
        assert!(status == Some(0) && work.iter().all(|piece| displayed.contains(piece)), "{arguments}: {displayed:?}");
    }
}

#[test]
fn export_displays_progress_for_files_but_not_pipes() {
    let dir = TestDir::with_courses();
    let file = File::create(dir.path("export.jsonl")).unwrap();
    let (status, displayed) = Terminal::run_on_stderr(dir.command("export").env("TERM", "xterm").stdout(file));
    assert!(status == Some(0) && displayed.contains("exporting") && displayed.contains("B/s"), "{displayed:?}");
    assert_eq!(std::fs::read_to_string(dir.path("export.jsonl")).unwrap(), COURSES);
    let (mut reader, pipe) = std::io::pipe().unwrap();
    let (status, displayed) = Terminal::run_on_stderr(dir.command("export").env("TERM", "xterm").stdout(pipe));
    assert_eq!((status, &*displayed), (Some(0), ""));
    let mut exported = String::new();
    reader.read_to_string(&mut exported).unwrap();
    assert_eq!(exported, COURSES);
}
