//! `catalogue settings`

use std::io::{self, IsTerminal};
use std::time::Duration;

use catalogue_core::storage::{Actor, NewSignIn};
use catalogue_core::{AccountId, MountUrl, Timestamp};
use catalogue_settings::SignInLink;
use serde_json::json;

use super::serving::reachable_address;
use super::{Context, accounts, block_on, keys};
use crate::cli::{MakeLink, SettingsCommand};
use crate::database::Storage;
use crate::exit::{Failure, sanitized};
use crate::output;
use crate::settings::table::{LISTEN, SETTINGS_OWNER_HEADER, SETTINGS_URL, TLS_CERT};
use crate::settings::{DeveloperOptions, Settings, mount_urls};

pub(super) fn run(command: SettingsCommand, context: &Context) -> Result<(), Failure> {
    match command {
        SettingsCommand::Link(arguments) => {
            let url = url(&context.settings)?;
            output::check_output_visible("nothing was created", ", so the secret would be lost")?;
            block_on(async { link(&keys::open(context).await?, &url, &arguments).await })
        }
        SettingsCommand::SignOut { account } => {
            block_on(async { sign_out(&keys::open(context).await?, &account).await })
        }
    }
}

/// Returns the URL of the developer settings, derived from the options of `serve`.
fn url(settings: &Settings) -> Result<MountUrl, Failure> {
    let (url, listen) = (settings.given(&SETTINGS_URL), settings.get(&LISTEN));
    let (base, docs) = mount_urls(settings);
    if let Some(url) = url.clone() {
        DeveloperOptions::at(url, &base, &docs).check_paths(settings);
    }
    settings.finish()?;
    let url = url.ok_or_else(|| Failure::usage("--settings-url is not set; pass the same value as for `serve`"))?;
    if settings.is_given(&SETTINGS_OWNER_HEADER) {
        let what = "a proxy signs owners in, so links do not work; give owners the URL of the settings";
        return Err(Failure::usage(settings.sourced(&[&SETTINGS_OWNER_HEADER], &what)));
    }
    if !url.origin().is_empty() {
        return Ok(url);
    }
    if listen.port() == 0 {
        let what = "port 0 is any free port; pass the port that the server uses";
        return Err(Failure::usage(settings.sourced(&[&LISTEN], &what)));
    }
    let scheme = if settings.is_given(&TLS_CERT) { "https" } else { "http" };
    let whole = format!("{scheme}://{}{}", reachable_address(listen), url.as_str());
    MountUrl::parse(&whole).map_err(Failure::from)
}

/// Creates and stores a sign-in link to the settings at `url`. Returns the link and its stored record.
pub(super) async fn mint(
    storage: &Storage,
    account: &str,
    url: &MountUrl,
    lifetime: Duration,
) -> Result<(SignInLink, NewSignIn), Failure> {
    let account = accounts::with_name(storage, account).await?;
    let (link, sign_in) = SignInLink::mint(&account, url, Timestamp::now(), lifetime);
    let hint = "create another; this one was never printed";
    let created = storage.sign_ins().create_link(&sign_in, &Actor::OPERATOR).await;
    created.map_err(|error| Failure::change_failed(&error, "a link was created", hint))?;
    Ok((link, sign_in))
}

async fn link(storage: &Storage, url: &MountUrl, arguments: &MakeLink) -> Result<(), Failure> {
    let (link, NewSignIn { expires_at, .. }) = mint(storage, &arguments.account, url, arguments.expires_in).await?;
    let (url, account) = (link.url(), &arguments.account);
    let printed = if arguments.json {
        let code = link.code();
        output::print_json(&json!({ "url": url, "code": code, "account": account, "expiresAt": expires_at }))
    } else {
        output::print(&url)
    };
    printed.map_err(|failure| {
        let (why, end) = (failure.message(), format!("run `catalogue settings sign-out --account {account}`"));
        Failure::work(format!("a link was created, but was not printed: {why}; {end} and create another"))
    })?;
    if !arguments.json && io::stderr().is_terminal() {
        output::print_note(&format!(
            "Single use, valid until {expires_at}. Anyone with this link can sign in: treat it like a password."
        ));
    }
    Ok(())
}

async fn sign_out(storage: &Storage, account: &String) -> Result<(), Failure> {
    accounts::check_known(storage, account).await?;
    let ended = storage.sign_ins().end_sign_ins(&AccountId::new(&**account), &Actor::OPERATOR).await;
    let ended = ended.map_err(|error| Failure::change_failed(&error, "sign-ins were ended", "repeat the command"))?;
    output::print(&format!("ended {ended} links and sessions of {}", sanitized(account)))
}
