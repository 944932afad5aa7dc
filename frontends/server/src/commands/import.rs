//! `catalogue import`

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use super::{Context, block_on};
use crate::cli::ImportArguments;
use crate::database::{Database, Migration};
use crate::exit::Failure;
use crate::import::{self, Options, Progress, Report};
use crate::output;

pub(super) fn run(arguments: &ImportArguments, context: &Context) -> Result<(), Failure> {
    let database = context.database()?;
    let migration = Migration::unless_forbidden(&context.layers, arguments.no_migrate)?;
    // The input is opened before the database, so that a mistyped name does not leave a new database behind.
    let input = Input::open(&arguments.file)?;
    let options = Options { prune: arguments.prune, dry_run: arguments.dry_run };
    let report = block_on(async {
        let is_new = database.is_missing();
        let outcome = import(&database, migration, input, options).await;
        if is_new && outcome.is_err() {
            database.remove_if_empty().await;
        }
        outcome
    })?;
    let printed = if arguments.json { output::print_json(&report) } else { output::print(&report.to_string()) };
    printed.map_err(|failure| match failure {
        Failure::Work(why) if report.dry_run => Failure::work(format!("nothing was changed, but {why}")),
        Failure::Work(why) => Failure::work(format!("all was imported, but the counts could not be shown: {why}")),
        other => other,
    })
}

async fn import(database: &Database, migration: Migration, input: Input, options: Options) -> Result<Report, Failure> {
    let storage = match options.dry_run {
        true => database.open_for_rehearsal(migration).await?,
        false => database.open_for(migration).await?.into_admin(),
    };
    let progress = Progress::of(input.length);
    let reader = BufReader::with_capacity(1 << 16, progress.watch(input.reader));
    import::run(&*storage, &input.name, reader, options).await
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
        const RIGHT: &str = "name a file of JSON Lines, or - for standard input";
        let cannot = |error: io::Error| Failure::work(format!("{name}: cannot be read: {error}; {RIGHT}"));
        let file = File::open(path).map_err(cannot)?;
        let metadata = file.metadata().map_err(cannot)?;
        if metadata.is_dir() {
            return Err(Failure::work(format!("{name}: is a directory; {RIGHT}")));
        }
        let length = metadata.is_file().then_some(metadata.len());
        Ok(Self { name, length, reader: Box::new(file) })
    }
}
