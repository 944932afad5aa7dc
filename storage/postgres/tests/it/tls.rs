//! TLS to a server with a certificate of its own: what proves its name is spoken to, and nothing else.

use std::fs;
use std::path::PathBuf;

use catalogue_core::storage::StorageErrorKind;
use catalogue_postgres::{OpenError, Options, PostgresStorage};
use catalogue_postgres_cluster::Cluster;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};
use tempfile::TempDir;

use crate::schema::Schema;
use crate::stress::{title, write};

/// Who may come in, and how; the socket stays open to the test.
const RULES: &str = "local all all trust\n\
                     hostssl all secret 127.0.0.1/32 scram-sha-256\n\
                     hostssl all certified 127.0.0.1/32 cert\n\
                     hostssl all all 127.0.0.1/32 trust\n";

/// An issuer of certificates.
struct Authority {
    certificate: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new([]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).unwrap().pem();
        Self { certificate, issuer: Issuer::new(params, key) }
    }

    /// A certificate for that name, and its key.
    fn issue(&self, name: &str, change: impl FnOnce(&mut CertificateParams)) -> [String; 2] {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        params.distinguished_name.push(rcgen::DnType::CommonName, name);
        change(&mut params);
        [params.signed_by(&key, &self.issuer).unwrap().pem(), key.serialize_pem()]
    }
}

/// A server named `db.test` with a certificate, and the files that a client needs.
struct Server {
    cluster: Cluster,
    port: u16,
    files: TempDir,
}

impl Server {
    /// One with a certificate of `authority`; `None` where PostgreSQL is missing and not required.
    async fn start(authority: &Authority, change: impl FnOnce(&mut CertificateParams)) -> Option<Self> {
        Cluster::shared()?;
        let cluster = Cluster::start().unwrap();
        let options = Schema::options_of(&cluster.address("postgres"));
        write(&PostgresStorage::open_and_migrate(&options).await.unwrap(), "title").await.unwrap();
        let (client, connection) =
            tokio_postgres::connect(&cluster.address("postgres"), tokio_postgres::NoTls).await.unwrap();
        let running = tokio::spawn(connection);
        let roles =
            "CREATE ROLE secret LOGIN SUPERUSER PASSWORD 'the pass word'; CREATE ROLE certified LOGIN SUPERUSER";
        client.batch_execute(roles).await.unwrap();
        drop(client);
        running.await.unwrap().unwrap();
        let [certificate, key] = authority.issue("db.test", change);
        for (file, text) in [
            ("server.pem", &*certificate),
            ("server.key", &*key),
            ("rules", RULES),
            ("roots.pem", &*authority.certificate),
        ] {
            cluster.write(file, text.as_bytes());
        }
        let file = |name: &str| cluster.directory.join(name).display().to_string();
        let port = cluster.listen(&[
            "ssl = on",
            &format!("ssl_cert_file = '{}'", file("server.pem")),
            &format!("ssl_key_file = '{}'", file("server.key")),
            &format!("ssl_ca_file = '{}'", file("roots.pem")),
            &format!("hba_file = '{}'", file("rules")),
        ]);
        let server = Self { cluster, port, files: TempDir::new().unwrap() };
        server.file("roots.pem", &authority.certificate);
        Some(server)
    }

    /// A file for the client.
    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.files.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// Asks for TLS with that host, as that role.
    fn address(&self, host: &str, user: &str, more: &str) -> String {
        let (port, roots) = (self.port, self.files.path().join("roots.pem"));
        let roots = roots.display();
        format!(
            "postgres://{user}@{host}:{port}/postgres?hostaddr=127.0.0.1&sslmode=verify-full&sslrootcert={roots}{more}"
        )
    }
}

async fn opens(address: &str) {
    let storage = PostgresStorage::open(&Schema::options_of(address)).await.unwrap();
    assert_eq!(title(&storage).await.unwrap().as_deref(), Some("title"), "{address}");
}

/// The sentence that an operator reads.
async fn complaint(address: &str) -> String {
    let refused = PostgresStorage::open(&Schema::options_of(address)).await.unwrap_err();
    let OpenError::Failed(error) = refused else { panic!("{refused}") };
    assert_eq!(error.kind(), StorageErrorKind::Unavailable, "{error}");
    assert!(!format!("{error:?}").contains("pass word"), "{error:?}");
    error.to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_proves_its_name_is_spoken_to() {
    let Some(server) = Server::start(&Authority::new(), |_| ()).await else { return };
    opens(&server.address("db.test", "postgres", "")).await;
    // There is no TLS here without a proof.
    for mode in ["require", "verify-ca"] {
        let address = server.address("db.test", "postgres", "").replace("verify-full", mode);
        opens(&address).await;
        assert!(complaint(&address.replace("db.test", "other.test")).await.contains("another name"));
    }
    let roots = server.files.path().join("roots.pem");
    let (port, roots) = (server.port, roots.display());
    opens(&format!(
        "host=db.test hostaddr=127.0.0.1 port={port} user=postgres dbname=postgres sslmode = verify-full sslrootcert='{roots}'"
    ))
    .await;
    // A socket beside it has no TLS.
    let directory = server.cluster.directory.display();
    opens(&format!(
        "host={directory} port={port} user=postgres dbname=postgres sslmode=verify-full sslrootcert={roots}"
    ))
    .await;
    // In the clear nobody is let in, as the rules say.
    let clear = format!("host=127.0.0.1 port={port} user=postgres dbname=postgres sslmode=disable");
    assert!(complaint(&clear).await.contains("does not let this role in"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_password_is_proved_to_that_certificate_alone() {
    let Some(server) = Server::start(&Authority::new(), |_| ()).await else { return };
    let bound = "&channel_binding=require";
    opens(&server.address("db.test", "secret:the%20pass%20word", bound)).await;
    assert!(
        complaint(&server.address("db.test", "secret:not%20the%20pass%20word", bound))
            .await
            .contains("let this role in")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_shows_its_certificate() {
    let authority = Authority::new();
    let Some(server) = Server::start(&authority, |_| ()).await else { return };
    let presented = |[certificate, key]: [String; 2]| {
        let (certificate, key) = (server.file("client.pem", &certificate), server.file("client.key", &key));
        format!("&sslcert={}&sslkey={}", certificate.display(), key.display())
    };
    let own = presented(authority.issue("certified", |_| ()));
    opens(&server.address("db.test", "certified", &own)).await;
    assert!(complaint(&server.address("db.test", "certified", "")).await.contains("let this role in"));
    let foreign = presented(Authority::new().issue("certified", |_| ()));
    assert!(complaint(&server.address("db.test", "certified", &foreign)).await.contains("sslcert"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_proves_nothing_is_not_spoken_to() {
    let Some(server) = Server::start(&Authority::new(), |_| ()).await else { return };
    let user = "secret:the%20pass%20word";
    assert!(complaint(&server.address("other.test", user, "")).await.contains("another name"));
    server.file("roots.pem", &Authority::new().certificate);
    assert!(complaint(&server.address("db.test", user, "")).await.contains("sslrootcert"));
    // By no authority of the system's either, where it has some.
    let of_system = server.address("db.test", user, "").replace(&server.files.path().display().to_string(), "");
    let of_system = of_system.replace("/roots.pem", "system");
    match Options::parse(&of_system) {
        Ok(_) => assert!(complaint(&of_system).await.contains("sslrootcert")),
        Err(error) => assert!(matches!(error, OpenError::Certificate { .. }), "{error}"),
    }
    server.cluster.configure(&["ssl = off"]);
    tokio::task::block_in_place(|| server.cluster.control(&["restart"]));
    assert!(complaint(&server.address("db.test", user, "")).await.contains("has no TLS"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_no_certificate_can_name_is_told_of() {
    let Some(server) = Server::start(&Authority::new(), |_| ()).await else { return };
    assert!(complaint(&server.address("a%20b", "postgres", "")).await.contains("no name that a certificate can have"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_expired_certificate_is_not_accepted() {
    let past = |params: &mut CertificateParams| {
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2020, 2, 1);
    };
    let Some(server) = Server::start(&Authority::new(), past).await else { return };
    assert!(complaint(&server.address("db.test", "postgres", "")).await.contains("expired"));
}

#[test]
fn files_that_are_not_there_or_hold_nothing_are_named() {
    let files = TempDir::new().unwrap();
    let (empty, missing) = (files.path().join("empty.pem"), files.path().join("missing.pem"));
    fs::write(&empty, "").unwrap();
    for file in [empty, missing] {
        let address = format!("postgres://me:secret@db.test/db?sslmode=verify-full&sslrootcert={}", file.display());
        let error = Options::parse(&address).unwrap_err();
        assert!(
            error.to_string().contains(&file.display().to_string()) && !error.to_string().contains("secret"),
            "{error}"
        );
    }
    for unclear in ["sslmode=prefer", "sslmode=allow", "sslrootcert=/a.pem", "sslmode=verify-full&sslcert=/a.pem"] {
        let error = Options::parse(&format!("postgres://db.test/db?{unclear}")).unwrap_err();
        assert!(matches!(error, OpenError::SslMode | OpenError::Certificate { .. }), "{unclear}: {error}");
    }
}
