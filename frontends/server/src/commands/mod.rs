//! What each command does.

mod completions;
mod config;
mod credentials;
mod demo;
mod doctor;
mod export;
mod front;
mod hangup;
mod health;
mod import;
mod keys;
mod listening;
mod man;
mod migrate;
mod openapi;
mod serve;
mod serving;
mod settings;
mod table;
mod tokens;
mod waiting;

use std::collections::BTreeMap;
use std::io;

use catalogue_postgres::Options;
use tokio::runtime::{Builder, Runtime};

use crate::cli::{Cli, Command, Global};
use crate::config::{Layers, Setting, Value};
use crate::database::Database;
use crate::exit::Failure;
use crate::logging::{LogArguments, Logs, Sink};

/// What every command is given beside its own arguments.
#[derive(Debug)]
struct Context {
    layers: Layers,
    database: Option<String>,
    database_pooler: bool,
    logs: Logs,
}

impl Context {
    /// The same for a command that looks at what another takes: its options stand on top of the layers.
    fn with_options(self, options: BTreeMap<Setting, Value>) -> Self {
        Self { layers: self.layers.below(options), database: None, database_pooler: false, ..self }
    }

    /// The database that is named, or the default one.
    fn database(&self) -> Result<Database, Failure> {
        Ok(self.named_database()?.unwrap_or_else(Database::default))
    }

    /// The database that is named, if one is.
    fn named_database(&self) -> Result<Option<Database>, Failure> {
        let database = Database::named(&self.layers, self.database.clone())?;
        let through_pooler = self.layers.flag(Setting::DatabasePooler, self.database_pooler)?;
        Ok(match through_pooler {
            true => database.map(|database| database.with(Options::through_transaction_pooler)),
            false => database,
        })
    }
}

/// Runs the command that the command line names.
pub(crate) fn run(cli: Cli) -> Result<(), Failure> {
    if let Command::Serve(_) = cli.command {
        hangup::Hangup::forget_early_ones()?;
    }
    let Global { database, database_pooler, log, log_format, config } = cli.global;
    let layers = Layers::of_this_process(config.clone());
    let layers = match cli.command {
        // It says itself what is wrong, all at once.
        Command::Config(_) => layers,
        _ => layers.sound()?,
    };
    let sink = match cli.command {
        Command::Demo(_) | Command::Serve(_) => Sink::background().map_err(|error| Failure::because(&error))?,
        _ => Sink::Direct,
    };
    let arguments = LogArguments { log, format: log_format, config };
    let logs = match (&cli.command, Logs::start(&layers, arguments, sink)) {
        // That is among what it says.
        (Command::Config(_), Err(_)) => Logs::start(&Layers::default(), LogArguments::default(), Sink::Direct)?,
        (_, logs) => logs?,
    };
    let context = Context { layers, database, database_pooler, logs };
    match cli.command {
        Command::Demo(arguments) => demo::run(arguments, &context),
        Command::Serve(arguments) => serve::run(*arguments, &context),
        Command::Import(arguments) => import::run(&arguments, &context),
        Command::Export(_) => export::run(&context),
        Command::Keys(command) => keys::run(command, &context),
        Command::Tokens(command) => tokens::run(command, &context),
        Command::Openapi(arguments) => openapi::run(arguments, &context),
        Command::Migrate(arguments) => migrate::run(&arguments, &context),
        Command::Config(command) => config::run(command, context),
        Command::Doctor(arguments) => doctor::run(&arguments, context),
        Command::Health(arguments) => health::run(&arguments, &context),
        Command::Completions(arguments) => completions::run(&arguments),
        Command::Man(arguments) => man::run(arguments),
    }
}

/// Runs the work of a command that does one thing after the other.
fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    runtime(Builder::new_current_thread().enable_all().build())?.block_on(work)
}

/// How many tasks run before sockets are looked at again. A task of a connection answers up to sixteen requests that came
/// in one piece: with the runtime's own 61, whoever asks for one would wait for a thousand of those.
const TASKS_BETWEEN_EVENTS: u32 = 8;

/// Runs the work of a command that serves, on all cores.
fn serve_on_all_cores(work: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
    let runtime = runtime(Builder::new_multi_thread().event_interval(TASKS_BETWEEN_EVENTS).enable_all().build())?;
    let outcome = runtime.block_on(work);
    // A host's name may still be looked up, or a database be silent: nobody waits for that any more.
    runtime.shutdown_background();
    outcome
}

fn runtime(built: io::Result<Runtime>) -> Result<Runtime, Failure> {
    built.map_err(|error| Failure::work(format!("the runtime cannot start: {error}")))
}
