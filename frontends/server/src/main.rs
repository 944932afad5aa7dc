//! The course catalogue API as a standalone program.

mod admin;
mod cli;
mod commands;
mod database;
mod developer_settings;
mod exit;
mod input;
#[cfg(feature = "oauth")]
mod issuer;
mod logging;
mod metrics;
mod open_files;
mod otlp;
mod output;
mod permissions;
mod rate_limit;
mod redaction;
mod report;
mod settings;
mod suggest;
mod systemd;
mod text;
mod units;

use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};

use exit::{Failure, sanitized};

fn main() -> ExitCode {
    if std::env::args_os().any(|argument| redaction::is_ambiguous(&argument.to_string_lossy())) {
        output::guess_format();
        return Failure::usage(format!("invalid command line: {}", redaction::AMBIGUOUS)).report();
    }
    match cli::parse() {
        Ok((command, command_line)) => match commands::run(command, command_line) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => failure.report(),
        },
        Err(error) if error.use_stderr() => {
            output::guess_format();
            to_failure(error).report()
        }
        Err(help) => {
            // Ignore the error: standard output may be a closed pipe.
            let _ = help.print();
            ExitCode::SUCCESS
        }
    }
}

/// Converts an error of clap to a failure. Sanitizes the arguments that it repeats.
fn to_failure(mut error: clap::Error) -> Failure {
    let repeated: Vec<_> = error.context().filter_map(|(kind, value)| Some((kind, sanitize_context(value)?))).collect();
    for (kind, value) in repeated {
        error.insert(kind, value);
    }
    if let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg)
        && ["--port", "-p"].contains(&option.as_str())
    {
        let tip = "use `--listen 127.0.0.1:8080`".to_owned();
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    let text = error.to_string();
    Failure::multiline(2, text.strip_prefix("error: ").unwrap_or(&text).split('\n'))
}

/// Sanitizes a value that clap repeats from the command line; `None` for clap's own values.
fn sanitize_context(value: &ContextValue) -> Option<ContextValue> {
    Some(match value {
        ContextValue::String(text) => ContextValue::String(sanitized(text)),
        ContextValue::Strings(texts) => ContextValue::Strings(texts.iter().map(|text| sanitized(text)).collect()),
        ContextValue::StyledStrs(texts) => {
            ContextValue::StyledStrs(texts.iter().map(|text| sanitized(&text.to_string()).into()).collect())
        }
        _ => return None,
    })
}
