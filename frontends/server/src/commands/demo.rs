//! `catalogue demo`

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use catalogue_core::{AccountId, AdminStorage, CredentialKind, NewToken, Scope};
use tokio::net::TcpListener;

use super::serving::{self, Signals};
use super::{Context, credentials, listening, serve_on_all_cores, waiting};
use crate::admin::Monitor;
use crate::cli::DemoArguments;
use crate::config::Setting;
use crate::database::{Database, Migration};
use crate::exit::Failure;
use crate::http::Front;
use crate::{import, output};

const COURSES: &str = include_str!("../../demo/courses.jsonl");
/// The account of the sample courses whose key is shown.
const ACCOUNT: &str = "acc_demo";
/// One of its courses.
const COURSE: &str = "english-for-the-workshop";

pub(super) fn run(arguments: DemoArguments, context: &Context) -> Result<(), Failure> {
    let migration = Migration::unless_forbidden(&context.layers, arguments.no_migrate)?;
    let database = context.named_database()?.unwrap_or(Database::Memory);
    let listen = listening::listen_address(&context.layers, arguments.listen)?;
    serve_on_all_cores(async {
        let mut signals = Signals::catch()?;
        let (listener, bound) = bind(listen).await?;
        let Some(storage) = waiting::open(&database, migration, None, &mut signals).await? else { return Ok(()) };
        import::run(storage.admin(), "the sample courses", COURSES.as_bytes(), import::Options::default()).await?;
        let key = mint(storage.admin()).await?;

        let addresses = Addresses::of(bound);
        let catalogue = storage
            .catalogue()
            .base_url(&addresses.base)
            .docs_url(&addresses.docs)
            .build()
            .map_err(|error| Failure::because(&error))?;
        let kept = !matches!(database, Database::Memory);
        let announced = || output::note(&invitation(&addresses, &key, kept));
        let monitor = Monitor::new(context.logs.sink());
        serving::serve((listener, bound), catalogue, Front::default(), signals, &monitor, announced).await
    })
}

/// The address that was asked for, or else the default one, or else any that is free.
async fn bind(listen: Option<SocketAddr>) -> Result<(TcpListener, SocketAddr), Failure> {
    let wanted = listen.unwrap_or(listening::DEFAULT_ADDRESS);
    let bound = match serving::bind(wanted).await {
        Err(error) if listen.is_none() && error.kind() == io::ErrorKind::AddrInUse => {
            serving::bind(SocketAddr::new(wanted.ip(), 0)).await
        }
        bound => bound,
    };
    bound.map_err(|error| serving::cannot_listen(Setting::Listen, wanted, &error))
}

async fn mint(storage: &dyn AdminStorage) -> Result<NewToken, Failure> {
    let scopes = Scope::DEFINED.iter().map(|(scope, _)| scope.clone()).collect();
    let (token, credential) =
        credentials::mint(CredentialKind::ApiKey, AccountId::new(ACCOUNT), Some("demo".to_owned()), scopes, None)?;
    storage.create_credential(&credential).await.map_err(|error| Failure::because(&error))?;
    Ok(token)
}

/// Where clients on this machine find things.
#[derive(Debug, PartialEq, Eq)]
struct Addresses {
    base: String,
    docs: String,
}

impl Addresses {
    /// A server that listens on every address is shown with one that a client can use.
    fn of(bound: SocketAddr) -> Self {
        let ip = match bound.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        };
        let origin = format!("http://{}", SocketAddr::new(ip, bound.port()));
        Self { base: format!("{origin}/api/v1"), docs: format!("{origin}/docs") }
    }
}

/// What a newcomer reads. The lines to paste stand alone and need no shell in particular.
fn invitation(Addresses { base, docs }: &Addresses, key: &NewToken, kept: bool) -> String {
    let key = key.expose();
    let curl = format!("curl -H \"Authorization: Bearer {key}\"");
    let after =
        if kept { "The courses and the key stay in the database." } else { "Nothing of it is kept afterwards." };
    format!(
        "\n\
         A course catalogue with sample courses is running. Its reference page:\n\
         \n\
         {docs}\n\
         \n\
         Lines to paste into another terminal: who am I; the newest courses, five\n\
         at a time; one of them with its modules.\n\
         \n\
         {curl} {base}/me\n\
         {curl} \"{base}/courses?limit=5\"\n\
         {curl} {base}/courses/{COURSE}\n\
         \n\
         Ctrl+C ends it. {after}\n"
    )
}

#[cfg(test)]
mod tests {
    use catalogue_core::MemoryStorage;

    use super::*;
    use crate::export;

    #[tokio::test]
    async fn the_sample_courses_are_in_the_form_of_an_export() {
        let storage = MemoryStorage::new();
        import::run(&storage, "samples", COURSES.as_bytes(), import::Options::default()).await.unwrap();
        let mut exported = Vec::new();
        export::run(&storage, &mut exported).await.unwrap();
        assert!(String::from_utf8(exported).unwrap() == COURSES);
        assert!(COURSES.contains(&format!("\"account\":\"{ACCOUNT}\",\"slug\":\"{COURSE}\"")));
    }

    #[test]
    fn addresses_can_be_pasted() {
        for (bound, base) in [
            ("127.0.0.1:8080", "http://127.0.0.1:8080/api/v1"),
            ("0.0.0.0:80", "http://127.0.0.1:80/api/v1"),
            ("[::]:1", "http://[::1]:1/api/v1"),
        ] {
            assert_eq!(Addresses::of(bound.parse().unwrap()).base, base);
        }
    }
}
