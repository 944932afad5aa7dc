//! Written lines, and a blocked standard error.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tracing_subscriber::layer::SubscriberExt as _;

use super::{Format, Lines, Sink};

/// Output that has been written.
#[derive(Clone, Default)]
struct Collected(Arc<Mutex<Vec<u8>>>);

impl Write for Collected {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the lines that `log` writes.
fn logged(format: Format, log: impl FnOnce()) -> Vec<String> {
    let collected = Collected::default();
    let sink = Arc::new(Sink::to(collected.clone()).unwrap());
    let lines = Lines::new(format, Arc::clone(&sink));
    tracing::subscriber::with_default(tracing_subscriber::registry().with(lines), log);
    sink.finish();
    let text = String::from_utf8(collected.0.lock().unwrap().clone()).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn log_unusual_values() {
    tracing::warn!(text = "a \"b\"\n\u{1b}[2J ü", shown = %"c\nd", number = 7, is = true, missing = None::<&str>, "hello");
}

#[test]
fn text_message_is_one_line() {
    let [line] = &*logged(Format::Text, log_unusual_values) else { panic!("expected one line") };
    let (time, rest) = line.split_once(' ').unwrap();
    assert!(catalogue_core::Timestamp::parse(time).is_ok(), "{line}");
    let expected = r#" WARN catalogue::logging::tests: hello text="a \"b\"\n\u{1b}[2J ü" shown=c\nd number=7 is=true"#;
    assert_eq!(rest, expected);
}

#[test]
fn json_line_contains_all_fields() {
    let [line] = &*logged(Format::Json, log_unusual_values) else { panic!("expected one line") };
    let mut value: Value = serde_json::from_str(line).unwrap();
    value["timestamp"].take();
    let expected = serde_json::json!({
        "timestamp": null, "level": "WARN", "target": "catalogue::logging::tests", "message": "hello",
        "text": "a \"b\"\n\u{1b}[2J ü", "shown": "c\nd", "number": 7, "is": true,
    });
    assert_eq!(value, expected);
}

#[test]
fn json_escapes_control_characters() {
    const UNSAFE: &str = "a\u{7f}\u{9b}2J\u{202e}\u{2066}\u{200f}";
    let log = || tracing::warn!(text = UNSAFE, shown = %UNSAFE, debug = ?"\u{9b}", "{UNSAFE}");
    let [line] = &*logged(Format::Json, log) else { panic!("expected one line") };
    assert!(line.is_ascii() && !line.contains('\u{7f}'), "{line:?}");
    let value: Value = serde_json::from_str(line).unwrap();
    assert_eq!([&value["text"], &value["shown"], &value["message"]], [UNSAFE; 3]);
}

/// Writer that reports each write, and completes it only when it is released.
struct Gated {
    released: Receiver<()>,
    written: SyncSender<usize>,
}

impl Write for Gated {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.written.send(bytes.len()).unwrap();
        self.released.recv().map_err(io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn lines_beyond_capacity_are_dropped_and_counted() {
    let ((release, released), (written, writes)) = (sync_channel(10), sync_channel(10));
    let sink = Sink::to(Gated { released, written }).unwrap();
    sink.write(b"first\n");
    // The first line blocks the writing thread. The following lines are queued up to 1 MiB; three exceed it.
    assert_eq!(writes.recv().unwrap(), 6);
    let line = [b'x'; 1 << 10];
    for _ in 0..(1 << 10) + 3 {
        sink.write(&line);
    }
    assert_eq!(sink.dropped(), 3);
    release.send(()).unwrap();
    assert_eq!(writes.recv().unwrap(), 1 << 20);
    release.send(()).unwrap();
    // The queue has capacity again.
    sink.write(b"last\n");
    assert_eq!(writes.recv().unwrap(), 5);
    release.send(()).unwrap();
    assert_eq!(sink.dropped(), 3);
}
