//! Implementations of the commands.

mod accounts;
mod backup;
#[cfg(feature = "oauth")]
mod check_token;
mod config;
mod credentials;
mod data;
mod demo;
mod developer_settings;
mod doctor;
mod documents;
mod health;
mod import;
mod keys;
mod progress;
mod serve;
mod serving;
mod signals;
mod startup_warnings;
mod table;
mod views;
mod waiting;

use tokio::runtime::{Builder, Runtime};

use crate::cli::{Command, ConfigCommand};
use crate::database::Database;
use crate::exit::Failure;
use crate::logging::{self, Logs, Sink};
use crate::output;
use crate::settings::table::{LOG, LOG_FORMAT, VIEWS};
use crate::settings::{CommandLine, Settings};

/// Input of every command, in addition to its arguments.
struct Context {
    settings: Settings,
    logs: Logs,
}

impl Context {
    /// Returns the configured database if all settings that were read are valid.
    fn database(&self) -> Result<Database, Failure> {
        let database = self.settings.database();
        self.settings.finish().map(|()| database)
    }

    /// Like [`Self::database`], for a command that changes or copies courses: fails if they belong to another program.
    fn require_own_courses(&self, command: &str) -> Result<Database, Failure> {
        const HINT: &str = "with --courses views, use the application that owns the courses";
        let database = self.database()?;
        let failure = || Failure::work(format!("`{command}` needs courses in the catalogue's own tables; {HINT}"));
        if self.settings.get(&VIEWS) { Err(failure()) } else { Ok(database) }
    }

    /// Returns a function that reloads the log filter; `--log` on the command line still wins. It may block.
    fn log_reloader(&self) -> impl Fn() + Clone + Send + 'static {
        let (command_line, reloader) = (self.settings.layers.command_line.clone(), self.logs.reloader.clone());
        move || {
            let settings = Settings::from_process(command_line.clone());
            let filter = settings.get(&LOG);
            logging::reload(&reloader, settings.finish().map(|()| filter));
        }
    }
}

/// Runs the command that the command line names.
pub(crate) fn run(command: Command, command_line: CommandLine) -> Result<(), Failure> {
    signals::end_as_pid_1()?;
    if let Command::Serve = command {
        signals::ignore_early_hangups()?;
    }
    let settings = Settings::from_process(command_line);
    let format = settings.get(&LOG_FORMAT);
    output::set_format(format);
    let sink = match command {
        Command::Demo | Command::Serve => Sink::background()?,
        _ => Sink::Direct,
    };
    let logs = Logs::start(settings.get(&LOG), format, sink)?;
    match command {
        // These commands report invalid settings together with other problems, or do not use them.
        Command::Serve | Command::Config(_) | Command::Doctor { .. } => {}
        _ => settings.finish()?,
    }
    let context = Context { settings, logs };
    match command {
        Command::Demo => demo::run(&context),
        Command::Serve => serve::run(&context),
        Command::Import(arguments) => import::run(&arguments, &context),
        Command::Export { accounts, .. } => data::export(&accounts, &context),
        Command::Backup(arguments) => backup::run(&arguments, &context),
        Command::Accounts(command) => accounts::run(command, &context),
        Command::Keys(command) => keys::run(command, &context),
        Command::Tokens(command) => keys::run_tokens(command, &context),
        Command::Settings(command) => developer_settings::run(command, &context),
        Command::Views(command) => views::run(command, &context),
        Command::Openapi(arguments) => documents::openapi(&arguments, &context),
        Command::Migrate(arguments) => data::migrate(&arguments, &context),
        Command::Config(ConfigCommand::Check { json }) => config::check(json, &context.settings),
        Command::Config(ConfigCommand::Example) => config::print_example(),
        Command::Doctor { json } => doctor::run(json, &context),
        Command::Health { url } => health::run(url.as_deref(), &context),
        Command::Completions { shell } => documents::completions(shell),
        Command::Man { out } => documents::man(out.as_deref()),
    }
}

/// Runs the work of a command on a single thread.
fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    run_on(&mut Builder::new_current_thread(), work)
}

/// Number of tasks that run between two polls of sockets. A connection's task responds to up to sixteen pipelined
/// requests: with Tokio's default of 61 tasks, a new request would wait for about a thousand responses.
const TASKS_BETWEEN_EVENTS: u32 = 8;

/// Runs the work of a command that serves, on all cores.
fn serve_on_all_cores(work: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
    run_on(Builder::new_multi_thread().event_interval(TASKS_BETWEEN_EVENTS), work)
}

fn run_on<T>(builder: &mut Builder, work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = runtime(builder)?;
    let outcome = runtime.block_on(work);
    // Does not wait for blocking tasks, which may never end: a pipe without a writer, a DNS lookup, an unresponsive database.
    runtime.shutdown_background();
    outcome
}

fn runtime(builder: &mut Builder) -> Result<Runtime, Failure> {
    let built = builder.enable_all().build();
    built.map_err(|error| Failure::work(format!("cannot start the runtime: {error}")))
}
