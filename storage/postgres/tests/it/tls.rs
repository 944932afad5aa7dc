//! TLS with certificates: the client connects only to a server that proves its name.

use std::fs;
use std::path::PathBuf;

use catalogue_core::storage::StorageErrorKind;
use catalogue_postgres::{OpenError, Options, PostgresStorage};
use catalogue_postgres_cluster::Cluster;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};
use tempfile::TempDir;

use crate::schema::Schema;
use crate::stress::{title, write};

/// Rules for which roles can connect, and how; the test's own socket needs no password.
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

    /// Issues a certificate for `name`. Returns it with its key.
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
    /// Starts a server with a certificate of `authority`; `None` if PostgreSQL is missing and not required.
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

    /// Writes a file for the client.
    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.files.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// Returns a connection string that requires TLS with `host`, for the role `user`.
    fn address(&self, host: &str, user: &str, more: &str) -> String {
        let (port, roots) = (self.port, self.files.path().join("roots.pem"));
        let roots = roots.display();
        format!(
            "postgres://{user}@{host}:{port}/postgres?hostaddr=127.0.0.1&sslmode=verify-full&sslrootcert={roots}{more}"
        )
    }
}

async fn assert_opens(address: &str) {
    let storage = PostgresStorage::open(&Schema::options_of(address)).await.unwrap();
    assert_eq!(title(&storage).await.unwrap().as_deref(), Some("title"), "{address}");
}

/// Returns the message of the error, as an operator reads it.
async fn failure(address: &str) -> String {
    let refused = PostgresStorage::open(&Schema::options_of(address)).await.unwrap_err();
    let OpenError::Failed(error) = refused else { panic!("{refused}") };
    assert_eq!(error.kind(), StorageErrorKind::Unavailable, "{error}");
    assert!(!format!("{error:?}").contains("pass word"), "{error:?}");
    error.to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn valid_certificate_and_password_are_accepted() {
    let Some(server) = Server::start(&Authority::new(), |_| ()).await else { return };
    assert_opens(&server.address("db.test", "postgres", "")).await;
    // Every mode with TLS verifies the certificate.
    for mode in ["require", "verify-ca"] {
        let address = server.address("db.test", "postgres", "").replace("verify-full", mode);
        assert_opens(&address).await;
        assert!(failure(&address.replace("db.test", "other.test")).await.contains("another host name"));
    }
    let roots = server.files.path().join("roots.pem");
    let (port, roots) = (server.port, roots.display());
    assert_opens(&format!(
        "host=db.test hostaddr=127.0.0.1 port={port} user=postgres dbname=postgres sslmode = verify-full sslrootcert='{roots}'"
    ))
    .await;
    // A Unix socket has no TLS.
    let directory = server.cluster.directory.display();
    assert_opens(&format!(
        "host={directory} port={port} user=postgres dbname=postgres sslmode=verify-full sslrootcert={roots}"
    ))
    .await;
    // The password is bound to the server's certificate.
    let bound = "&channel_binding=require";
    assert_opens(&server.address("db.test", "secret:the%20pass%20word", bound)).await;
    let wrong = server.address("db.test", "secret:not%20the%20pass%20word", bound);
    assert!(failure(&wrong).await.contains("authentication failed for this role"));
    // The rules refuse every unencrypted connection over TCP.
    let clear = format!("host=127.0.0.1 port={port} user=postgres dbname=postgres sslmode=disable");
    assert!(failure(&clear).await.contains("authentication failed for this role"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn client_certificate_is_presented() {
    let authority = Authority::new();
    let Some(server) = Server::start(&authority, |_| ()).await else { return };
    let presented = |[certificate, key]: [String; 2]| {
        let (certificate, key) = (server.file("client.pem", &certificate), server.file("client.key", &key));
        format!("&sslcert={}&sslkey={}", certificate.display(), key.display())
    };
    let own = presented(authority.issue("certified", |_| ()));
    assert_opens(&server.address("db.test", "certified", &own)).await;
    assert!(failure(&server.address("db.test", "certified", "")).await.contains("authentication failed for this role"));
    let untrusted = presented(Authority::new().issue("certified", |_| ()));
    assert!(failure(&server.address("db.test", "certified", &untrusted)).await.contains("sslcert"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn certificate_of_other_host_or_untrusted_issuer_is_rejected() {
    let Some(server) = Server::start(&Authority::new(), |_| ()).await else { return };
    let user = "secret:the%20pass%20word";
    assert!(failure(&server.address("other.test", user, "")).await.contains("another host name"));
    assert!(failure(&server.address("a%20b", user, "")).await.contains("invalid host name for TLS"));
    server.file("roots.pem", &Authority::new().certificate);
    assert!(failure(&server.address("db.test", user, "")).await.contains("sslrootcert"));
    // The authorities of the system, if it has any, do not vouch for the certificate either.
    let system_address = server.address("db.test", user, "").replace(&server.files.path().display().to_string(), "");
    let system_address = system_address.replace("/roots.pem", "system");
    match Options::parse(&system_address) {
        Ok(_) => assert!(failure(&system_address).await.contains("sslrootcert")),
        Err(error) => assert!(matches!(error, OpenError::Certificate { .. }), "{error}"),
    }
    server.cluster.configure(&["ssl = off"]);
    tokio::task::block_in_place(|| server.cluster.control(&["restart"]));
    assert!(failure(&server.address("db.test", user, "")).await.contains("does not support TLS"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn expired_certificate_is_rejected() {
    let past = |params: &mut CertificateParams| {
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2020, 2, 1);
    };
    let Some(server) = Server::start(&Authority::new(), past).await else { return };
    assert!(failure(&server.address("db.test", "postgres", "")).await.contains("expired"));
}

#[test]
fn missing_or_empty_certificate_files_are_named() {
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
