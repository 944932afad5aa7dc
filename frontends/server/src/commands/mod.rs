//! What each command does.

mod credentials;
mod demo;
mod export;
mod front;
mod import;
mod keys;
mod migrate;
mod openapi;
mod serve;
mod serving;
mod settings;
mod table;
mod tokens;

use std::io;

use tokio::runtime::{Builder, Runtime};

use crate::cli::{Cli, Command};
use crate::config::{Layers, Setting};
use crate::database::Database;
use crate::exit::Failure;
use crate::logging;

/// What every command is given beside its own arguments.
#[derive(Debug)]
struct Context {
    layers: Layers,
    database: Option<String>,
}

impl Context {
    /// The database that is named, or the default one.
    fn database(&self) -> Result<Database, Failure> {
        Database::named(&self.layers, self.database.clone())
    }
}

/// Runs the command that the command line names.
pub(crate) fn run(cli: Cli) -> Result<(), Failure> {
    let layers = Layers::of_this_process(cli.global.config)?;
    logging::start(layers.text(Setting::Log, cli.global.log)?)?;
    let context = Context { layers, database: cli.global.database };
    match cli.command {
        Command::Demo(arguments) => demo::run(arguments, &context),
        Command::Serve(arguments) => serve::run(*arguments, &context),
        Command::Import(arguments) => import::run(&arguments, &context),
        Command::Export(_) => export::run(&context),
        Command::Keys(command) => keys::run(command, &context),
        Command::Tokens(command) => tokens::run(command, &context),
        Command::Openapi(arguments) => openapi::run(arguments, &context),
        Command::Migrate(arguments) => migrate::run(&arguments, &context),
    }
}

/// Runs the work of a command that does one thing after the other.
fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    runtime(Builder::new_current_thread().build())?.block_on(work)
}

/// Runs the work of a command that serves, on all cores.
fn serve_on_all_cores(work: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
    runtime(Builder::new_multi_thread().enable_all().build())?.block_on(work)
}

fn runtime(built: io::Result<Runtime>) -> Result<Runtime, Failure> {
    built.map_err(|error| Failure::work(format!("the runtime cannot start: {error}")))
}
