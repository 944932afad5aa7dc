//! `catalogue demo`

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use catalogue_core::admin::NewCredential;
use catalogue_core::auth::{NewToken, Scope};
use catalogue_core::limit::LocalRateLimiter;
use catalogue_core::storage::Actor;
use catalogue_core::{AccountId, MountUrl};
use catalogue_hyper::ServerConfig;
use catalogue_observers::last_uses::Recorder;
use catalogue_settings::DEFAULT_LINK_LIFETIME;
use catalogue_transfer::Options;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::time::sleep;

use super::signals::Signals;
use super::{Context, developer_settings, import, serve_on_all_cores, serving, waiting};
use crate::admin::Monitor;
use crate::database::{Database, Storage};
use crate::developer_settings::SettingsService;
use crate::exit::Failure;
use crate::logging::AccessLog;
use crate::output;
use crate::settings::DeveloperOptions;
use crate::settings::table::{BASE_URL, DOCS_URL, LISTEN, RATE_LIMIT, VIEWS};

const SAMPLES: &str = include_str!("../../demo/courses.jsonl");
/// Account with sample courses, for which a key is created and printed.
const ACCOUNT: &str = "acc_demo";
/// Slug of a course of [`ACCOUNT`].
const COURSE: &str = "english-for-the-workshop";
/// Minimum interval between two printed sign-in links.
const LINK_INTERVAL: Duration = Duration::from_secs(10);

pub(super) fn run(context: &Context) -> Result<(), Failure> {
    let migration = context.settings.migration();
    let database = context.settings.named_database().unwrap_or(Database::Memory);
    let (listen, limit) = (context.settings.given(&LISTEN), context.settings.given(&RATE_LIMIT));
    if context.settings.get(&VIEWS) {
        let what = "the demo stores sample courses in the catalogue's own tables; omit it";
        context.settings.conflict(&[&VIEWS], &what);
    }
    context.settings.finish()?;
    serve_on_all_cores(async {
        let mut signals = Signals::catch()?;
        let (listener, bound) = bind(listen)?;
        let Some(storage) = waiting::open(&database, migration, None, &mut signals).await? else { return Ok(()) };
        let imported = catalogue_transfer::import_text(storage.admin(), SAMPLES, Options::default()).await;
        imported.map_err(|error| import::failure("the sample courses", &error))?;
        let key = create_key(&storage).await?;

        // If the server listens on all addresses, print one that clients can use.
        let origin = format!("http://{}", serving::reachable_address(bound));
        let [base, docs] = [BASE_URL.default_value(), DOCS_URL.default_value()].map(|path| format!("{origin}{path}"));
        let settings = MountUrl::parse(&format!("{origin}/settings"))?;
        let monitor = Monitor::new(Arc::clone(&context.logs.sink));
        let recorder = Recorder::start(Arc::from(storage.clone().into_admin()));
        let observer = (AccessLog, recorder.observer());
        let mut builder = storage.clone().catalogue().serve_root().base_url(&base).docs_url(&docs).observer(observer);
        if let Some(limit) = limit {
            builder = builder.rate_limiter(LocalRateLimiter::new(limit));
        }
        let (mut pages, mut link) = (None, None);
        // On an address that is not loopback, the developer settings need HTTPS, which the demo does not have.
        if bound.ip().to_canonical().is_loopback() {
            let options = DeveloperOptions::at(settings.clone(), &base, &docs);
            pages = Some(SettingsService::new(&options, &storage, false, &monitor)?);
            link = Some(create_link(&storage, &settings).await?);
            builder = builder.settings_url(settings.as_str());
        }
        let catalogue = builder.build()?;
        let on_ready = || output::print_note(&welcome_text(&base, &docs, &key, link.as_deref(), &database));
        let sign_in_shown = pages.as_ref().map(SettingsService::sign_in_shown).unwrap_or_default();
        let config = ServerConfig::default();
        let served = tokio::select! {
            served = serving::serve((listener, bound), (catalogue, pages), config, signals, &monitor, on_ready) => served,
            () = keep_printing_links(&storage, &settings, &sign_in_shown) => Ok(()),
        };
        recorder.finish().await;
        served
    })
}

/// Prints a new sign-in link when the sign-in page is shown, so that owners can sign in again. Never returns.
async fn keep_printing_links(storage: &Storage, settings: &MountUrl, sign_in_shown: &Notify) {
    loop {
        sign_in_shown.notified().await;
        match create_link(storage, settings).await {
            Ok(link) => output::print_note(&format!("\nA new link to the developer settings:\n\n{link}\n")),
            Err(failure) => tracing::warn!(error = failure.message(), "cannot create a sign-in link"),
        }
        sleep(LINK_INTERVAL).await;
    }
}

async fn create_link(storage: &Storage, settings: &MountUrl) -> Result<String, Failure> {
    Ok(developer_settings::mint(storage, ACCOUNT, settings, DEFAULT_LINK_LIFETIME).await?.0.url())
}

/// Binds the requested address. Without one, binds the default address, with any free port if the default port is in use.
fn bind(listen: Option<SocketAddr>) -> Result<(TcpListener, SocketAddr), Failure> {
    let address = listen.unwrap_or_else(|| LISTEN.default_value());
    let mut bound = serving::bind(address);
    if listen.is_none() && bound.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::AddrInUse) {
        bound = serving::bind(SocketAddr::new(address.ip(), 0));
    }
    bound.map_err(|error| serving::cannot_listen(&LISTEN, address, &error))
}

async fn create_key(storage: &Storage) -> Result<NewToken, Failure> {
    let scopes = Scope::DEFINED.iter().map(|(scope, _)| scope.clone()).collect();
    let (token, credential) = NewCredential::api_key(AccountId::new(ACCOUNT), "demo".to_owned(), scopes);
    storage.keys().create_key(&credential, &Actor::OPERATOR).await?;
    Ok(token)
}

/// Returns the text that `demo` prints. Each URL and command to paste is alone on its line; commands work in any shell.
fn welcome_text(base: &str, docs: &str, key: &NewToken, link: Option<&str>, database: &Database) -> String {
    let curl = format!("curl -H \"Authorization: Bearer {}\"", key.expose());
    let link = link.map_or("The developer settings are off: they need --listen 127.0.0.1:PORT.".to_owned(), |link| {
        format!("Developer settings (the link works once, for 15 minutes):\n\n{link}")
    });
    let after = match database {
        Database::Memory => "Everything is discarded on exit.",
        _ => "The courses and the key stay in the database.",
    };
    format!(
        "\nA course catalogue with sample courses is running. Its API reference:\n\n\
         {docs}\n\n\
         Paste these lines into another terminal to request the account, the five\n\
         newest courses, and a course with its modules.\n\n\
         {curl} {base}/me\n\
         {curl} \"{base}/courses?limit=5\"\n\
         {curl} {base}/courses/{COURSE}\n\n\
         {link}\n\n\
         Press Ctrl+C to stop. {after}\n"
    )
}

#[cfg(test)]
mod tests {
    use catalogue_core::admin::Accounts;
    use catalogue_core::storage::MemoryStorage;

    use super::*;

    #[tokio::test]
    async fn sample_courses_equal_their_export() {
        let storage = MemoryStorage::new();
        catalogue_transfer::import_text(&storage, SAMPLES, Options::default()).await.unwrap();
        let mut exported = Vec::new();
        catalogue_transfer::export(&storage, Accounts::All, &mut exported).await.unwrap();
        assert!(String::from_utf8(exported).unwrap() == SAMPLES);
        assert!(SAMPLES.contains(&format!("\"account\":\"{ACCOUNT}\",\"slug\":\"{COURSE}\"")));
    }
}
