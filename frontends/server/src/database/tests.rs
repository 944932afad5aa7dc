//! Addresses, replicas, and dry runs on files.

use super::*;

#[test]
fn valid_addresses_are_parsed_and_displayed() {
    for (address, path) in [
        ("sqlite:catalogue.db", "catalogue.db"),
        ("sqlite:/var/lib/c d.db", "/var/lib/c d.db"),
        ("sqlite:a:b", "a:b"),
        ("sqlite:a?b#c%20=d", "a?b#c%20=d"),
        ("sqlite:./file:a", "./file:a"),
    ] {
        assert!(
            matches!(Database::parse(address), Ok(Database::File { path: found, .. }) if found.as_os_str() == path)
        );
    }
    assert!(matches!(Database::parse(IN_MEMORY), Ok(Database::Memory)));
    for address in ["sqlite:catalogue.db", IN_MEMORY, "sqlite:/var/lib/c d.db", "postgres://db/catalogue"] {
        assert_eq!(Database::parse(address).unwrap().to_string(), address);
    }
}

#[test]
fn invalid_addresses_are_refused_without_printing_passwords() {
    for (address, piece) in [
        ("", "the database address has no scheme"),
        ("catalogue.db", "the database address has no scheme"),
        ("hunter2", "the database address has no scheme"),
        ("sqlite://hunter2.db", "begins with //"),
        ("sqlite:///var/lib/hunter2.db", "use sqlite:PATH"),
        ("sqlite:", "no path"),
        ("sqlite:a\0b", "zero byte"),
        ("sqlite:hunter2.db?mode=ro", "URIs are not supported"),
        ("sqlite:hunter2.db?mode=ro&immutable=1", "URIs are not supported"),
        ("sqlite::memory:?cache=shared", "URIs are not supported"),
        ("sqlite:file:hunter2.db", "URIs are not supported"),
        ("sqlite:file:hunter2.db?mode=memory", "URIs are not supported"),
        ("SQLITE:a", "unknown kind of database \"SQLITE\""),
        ("mysql://root:hunter2@db/catalogue", "unknown kind of database \"mysql\""),
    ] {
        let message = Database::parse(address).unwrap_err();
        assert!(message.contains(piece) && message.contains("sqlite:catalogue.db"), "{address}: {message}");
        assert!(!message.contains("hunter2"), "{message}");
    }
}

#[test]
fn replicas_require_postgres_and_hide_passwords() {
    let primary = || Database::parse("postgres://u:hunter2@db/catalogue").unwrap();
    let sqlite = || Database::parse("sqlite:catalogue.db").unwrap();
    let replicas = ["postgres://u:hunter2@one/catalogue", "postgresql://two,three/catalogue"].map(str::to_owned);
    assert_eq!(parse_replicas(&replicas).as_deref(), Ok(&replicas[..]));
    let replicated = primary().with_replicas(&replicas).unwrap();
    assert_eq!(replicated.to_string(), "postgres://db/catalogue");
    assert!(!format!("{replicated:?}").contains("hunter2"), "{replicated:?}");
    for wrong in ["hunter2", "sqlite:hunter2", "postgres:hunter2", "postgres://u:p@hunter2@one/c"] {
        let message = parse_replicas(&[replicas[0].clone(), wrong.to_owned()]).unwrap_err();
        assert!(message.contains("replica 2") && message.contains("use postgres://"), "{message}");
        assert!(!message.contains("hunter2"), "{message}");
    }
    assert!(matches!(sqlite().with_replicas(&[]), Ok(Database::File { .. })), "no replica, no conflict");
    assert!(sqlite().with_replicas(&replicas).unwrap_err().contains("replicas need PostgreSQL"));
}

#[tokio::test]
async fn dry_run_requires_existing_directory() {
    let directory = tempfile::tempdir().unwrap();
    let dry_run = async |path| {
        let opened = Database::File { path, courses: None }.open_for_rehearsal(Migration::Allowed).await;
        opened.map(|_| ()).map_err(Failure::from)
    };
    let missing = dry_run(directory.path().join("no").join("catalogue.db")).await;
    assert!(missing.unwrap_err().message().contains("directory"));
    let not_a_file = dry_run(directory.path().to_owned()).await;
    assert!(not_a_file.unwrap_err().message().contains("not a file"));
    assert!(dry_run(directory.path().join("catalogue.db")).await.is_ok());
}
