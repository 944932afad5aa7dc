//! The configuration file, read as `catalogue config check` reads it. The program is a binary, so those of
//! its modules that settings depend on stand here once more; the test of the kept inputs runs the program itself.
#![no_main]
#![allow(dead_code, unused_imports)]

#[path = "../../src/admin/mod.rs"]
mod admin;
#[path = "../../src/database/mod.rs"]
mod database;
#[path = "../../src/developer_settings.rs"]
mod developer_settings;
#[path = "../../src/exit.rs"]
mod exit;
#[path = "../../src/issuer/mod.rs"]
mod issuer;
#[path = "../../src/logging/mod.rs"]
mod logging;
#[path = "../../src/metrics/mod.rs"]
mod metrics;
#[path = "../../src/nearest.rs"]
mod nearest;
#[path = "../../src/otlp/mod.rs"]
mod otlp;
#[path = "../../src/output.rs"]
mod output;
#[path = "../../src/permissions.rs"]
mod permissions;
#[path = "../../src/rate_limit.rs"]
mod rate_limit;
#[path = "../../src/redaction.rs"]
mod redaction;
#[path = "../../src/report.rs"]
mod report;
#[path = "../../src/settings/mod.rs"]
mod settings;
#[path = "../../src/text.rs"]
mod text;
#[path = "../../src/units.rs"]
mod units;

use std::path::PathBuf;
use std::sync::LazyLock;
use std::{env, fs, process};

use serde_json::Value;

use exit::Failure;
use settings::{CommandLine, ServeSettings, Settings, Shape, table};

static FILE: LazyLock<PathBuf> =
    LazyLock::new(|| env::temp_dir().join(format!("catalogue-configuration-{}.toml", process::id())));

libfuzzer_sys::fuzz_target!(|input: &[u8]| check(input));

/// What is wrong is told with the file and a line of it; what is right says the same when it is written once more.
fn check(input: &[u8]) {
    // Files that it names are read, and not every file of the machine should be.
    if input.contains(&b'/') && !input.windows(3).any(|window| window == b"://") {
        return;
    }
    match read(input) {
        Ok(first) => {
            let again = read(written(&first).as_bytes());
            assert_eq!(again.as_ref(), Ok(&first), "{:?}", String::from_utf8_lossy(input));
        }
        Err(failure) => {
            let lines = 1 + input.iter().filter(|byte| **byte == b'\n').count();
            for message in failure.message().lines() {
                assert!(!message.contains(char::is_control), "{message:?}");
                let line = message.split_once(": line ").and_then(|(_, rest)| rest.split(':').next()?.parse().ok());
                assert!(line.is_none_or(|line: usize| (1..=lines).contains(&line)), "{message}");
                assert!(message.contains(".toml: "), "{message}");
            }
        }
    }
}

/// The settings that somebody gives and all may see, by their names.
type Given = Vec<(&'static str, Shape, Vec<String>)>;

fn read(file: &[u8]) -> Result<Given, Failure> {
    fs::write(&*FILE, file).expect("the folder for temporary files can be written");
    let settings = Settings::of_this_process(CommandLine { config: Some(FILE.clone()), ..CommandLine::default() });
    let serve = ServeSettings::read(&settings);
    serve.check_listeners(&settings, None);
    settings.finish()?;
    let open = table::all().filter(|setting| !setting.is_secret && setting.shape != Shape::Secret);
    Ok(open.filter_map(|setting| Some((setting.name, setting.shape, settings.shown(setting)?.0))).collect())
}

/// A file that says the same. A string of JSON is one of TOML.
fn written(given: &Given) -> String {
    let quoted = |text: &String| Value::from(text.as_str()).to_string();
    let value = |shape: Shape, texts: &[String]| match (shape, texts) {
        (Shape::List, texts) => format!("[{}]", texts.iter().map(quoted).collect::<Vec<_>>().join(", ")),
        (Shape::Flag, [text]) => text.clone(),
        (Shape::Choice, [text]) if text.parse::<bool>().is_ok() => text.clone(),
        (_, texts) => quoted(&texts.concat()),
    };
    given.iter().map(|(name, shape, texts)| format!("{name} = {}\n", value(*shape, texts))).collect()
}
