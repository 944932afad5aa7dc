//! `catalogue import`

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use super::{Context, block_on};
use crate::cli::ImportArguments;
use crate::database::Migration;
use crate::exit::Failure;
use crate::import::{self, Options, Progress};
use crate::output;

pub(super) fn run(arguments: &ImportArguments, context: &Context) -> Result<(), Failure> {
    let database = context.database()?;
    let migration = Migration::unless_forbidden(&context.layers, arguments.no_migrate)?;
    // First the input: for one that is not there, no database is made.
    let input = Input::open(&arguments.file)?;
    let storage = match arguments.dry_run {
        true => database.open_for_rehearsal(migration)?,
        false => database.open_for(migration)?,
    };

    let progress = Progress::of(input.length);
    let reader = BufReader::with_capacity(1 << 16, progress.watch(input.reader));
    let options = Options { prune: arguments.prune, dry_run: arguments.dry_run };
    let outcome = block_on(import::run(&storage, &input.name, reader, options));
    drop(progress);

    let report = outcome?;
    if arguments.json { output::print_json(&report) } else { output::print(&report.to_string()) }
}

/// What is imported.
struct Input {
    name: String,
    /// How many bytes it has, where that can be known.
    length: Option<u64>,
    reader: Box<dyn Read>,
}

impl Input {
    fn open(path: &Path) -> Result<Self, Failure> {
        if path == Path::new("-") {
            return Ok(Self { name: "standard input".to_owned(), length: None, reader: Box::new(io::stdin()) });
        }
        let name = path.display().to_string();
        let cannot = |error: io::Error| Failure::work(format!("{name}: cannot be read: {error}"));
        let file = File::open(path).map_err(cannot)?;
        let metadata = file.metadata().map_err(cannot)?;
        if metadata.is_dir() {
            return Err(Failure::work(format!(
                "{name}: is a directory; name a file of JSON Lines, or - for standard input"
            )));
        }
        let length = metadata.is_file().then_some(metadata.len());
        Ok(Self { name, length, reader: Box::new(file) })
    }
}
