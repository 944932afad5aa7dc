//! Addresses, and dry runs on files.

use super::*;

#[test]
fn addresses() {
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
fn refuses_all_else_and_keeps_passwords_to_itself() {
    for (address, piece) in [
        ("", "what kind of database"),
        ("catalogue.db", "what kind of database"),
        ("hunter2", "what kind of database"),
        ("sqlite://hunter2.db", "begins with //"),
        ("sqlite:///var/lib/hunter2.db", "write sqlite:PATH"),
        ("sqlite:", "no path"),
        ("sqlite:a\0b", "zero byte"),
        ("sqlite:hunter2.db?mode=ro", "parameters as a URI has"),
        ("sqlite:hunter2.db?mode=ro&immutable=1", "parameters as a URI has"),
        ("sqlite::memory:?cache=shared", "parameters as a URI has"),
        ("sqlite:file:hunter2.db", "begins with file:"),
        ("sqlite:file:hunter2.db?mode=memory", "begins with file:"),
        ("SQLITE:a", "\"SQLITE\" is not a kind"),
        ("mysql://root:hunter2@db/catalogue", "\"mysql\" is not a kind"),
    ] {
        let message = Database::parse(address).unwrap_err();
        assert!(message.contains(piece) && message.contains("sqlite:catalogue.db"), "{address}: {message}");
        assert!(!message.contains("hunter2"), "{message}");
    }
}

#[test]
fn replicas_are_of_postgresql_and_keep_their_passwords() {
    let primary = || Database::parse("postgres://u:hunter2@db/catalogue").unwrap();
    let sqlite = || Database::parse("sqlite:catalogue.db").unwrap();
    let replicas = ["postgres://u:hunter2@one/catalogue", "postgresql://two,three/catalogue"].map(str::to_owned);
    assert_eq!(parse_replicas(&replicas).as_deref(), Ok(&replicas[..]));
    let replicated = primary().with_replicas(&replicas).unwrap();
    assert_eq!(replicated.to_string(), "postgres://db/catalogue");
    assert!(!format!("{replicated:?}").contains("hunter2"), "{replicated:?}");
    for wrong in ["hunter2", "sqlite:hunter2", "postgres:hunter2", "postgres://u:p@hunter2@one/c"] {
        let message = parse_replicas(&[replicas[0].clone(), wrong.to_owned()]).unwrap_err();
        assert!(message.contains("replica 2") && message.contains("write postgres://"), "{message}");
        assert!(!message.contains("hunter2"), "{message}");
    }
    assert!(matches!(sqlite().with_replicas(&[]), Ok(Database::File { .. })), "an empty list names none");
    assert!(sqlite().with_replicas(&replicas).unwrap_err().contains("only a database of PostgreSQL"));
}

#[tokio::test]
async fn a_rehearsal_needs_a_directory() {
    let directory = tempfile::tempdir().unwrap();
    let rehearsed = async |path| {
        let opened = Database::File { path, courses: None }.open_for_rehearsal(Migration::Allowed).await;
        opened.map(|_| ()).map_err(Failure::from)
    };
    let missing = rehearsed(directory.path().join("no").join("catalogue.db")).await;
    assert!(missing.unwrap_err().message().contains("directory"));
    let itself = rehearsed(directory.path().to_owned()).await;
    assert!(itself.unwrap_err().message().contains("not a file"));
    assert!(rehearsed(directory.path().join("catalogue.db")).await.is_ok());
}
