//! Documents that need no server and no database: `catalogue openapi`, `completions` and `man`.

use std::path::Path;
use std::{fs, io};

#[cfg(feature = "oauth")]
use bytes::Bytes;
use catalogue_core::Catalogue;
use catalogue_core::storage::MemoryStorage;
use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;

use super::Context;
use crate::cli::{self, OpenapiArguments};
use crate::exit::Failure;
#[cfg(feature = "oauth")]
use crate::issuer::IssuerOptions;
use crate::output;
use crate::settings::{AboutSettings, mount_urls};

pub(super) fn openapi(arguments: &OpenapiArguments, context: &Context) -> Result<(), Failure> {
    // Settings that `serve` would refuse are refused here, too.
    let (base_url, docs_url) = mount_urls(&context.settings);
    let about = AboutSettings::read(&context.settings);
    #[cfg(feature = "oauth")]
    let issuer = IssuerOptions::read(&context.settings, &base_url);
    context.settings.finish()?;
    let builder = Catalogue::with_api_keys(MemoryStorage::new()).base_url(base_url).docs_url(docs_url);
    #[cfg(feature = "oauth")]
    let builder = match issuer {
        Some(issuer) => builder.or_authenticator(issuer.tokens_by(Bytes::new())?),
        None => builder,
    };
    let catalogue = about.apply_to(builder).build().map_err(|error| Failure::usage(error.to_string()))?;
    output::print(&catalogue.document(arguments.format))
}

pub(super) fn completions(shell: Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut cli::command(), "catalogue", &mut script);
    output::print(&String::from_utf8_lossy(&script))
}

pub(super) fn man(out: Option<&Path>) -> Result<(), Failure> {
    let mut command = cli::command().disable_help_subcommand(true);
    command.build();
    if let Some(directory) = out {
        let written = fs::create_dir_all(directory).and_then(|()| write_pages(&command, directory));
        return written.map_err(|error| {
            Failure::work(format!("cannot write the manual pages to {}: {error}", directory.display()))
        });
    }
    let mut text = Vec::new();
    page(command).render(&mut text)?;
    output::print(&String::from_utf8_lossy(&text))
}

/// Writes a page for the command and for each subcommand, such as `catalogue-keys-list.1`.
fn write_pages(command: &Command, directory: &Path) -> io::Result<()> {
    page(command.clone()).generate_to(directory)?;
    command.get_subcommands().try_for_each(|inner| write_pages(inner, directory))
}

fn page(command: Command) -> Man {
    Man::new(command).manual("catalogue").source(concat!("catalogue ", env!("CARGO_PKG_VERSION")))
}
