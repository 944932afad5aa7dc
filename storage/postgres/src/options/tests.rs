//! Settings of a connection string, and the defaults of those that it omits.

use super::*;

const SECRET: &str = "s3cret";

#[test]
fn address_with_several_hosts_keeps_its_settings() {
    let options = Options::parse(
        "postgres://me:s3cret@one:5433,two/db?target_session_attrs=read-write&connect_timeout=7&keepalives_idle=9\
         &options=-c%20search_path%3Dshop",
    )
    .unwrap();
    assert_eq!(options.role, Role::Primary);
    let [one, two] = &options.hosts[..] else { panic!("two hosts") };
    assert_eq!([&*one.0, &*two.0], ["one:5433", "two:5432"]);
    let config = options.with_settings(&one.1, true);
    assert_eq!((config.get_hosts().len(), config.get_ports(), config.get_dbname()), (1, &[5433][..], Some("db")));
    assert_eq!((config.get_user(), config.get_password()), (Some("me"), Some(&b"s3cret"[..])));
    assert_eq!(config.get_connect_timeout(), Some(&Duration::from_secs(7)));
    assert_eq!(config.get_keepalives_idle(), Duration::from_secs(9));
    assert_eq!(config.get_options(), Some("-c search_path=shop -c statement_timeout=2000"));
    let pooled = options.clone().through_transaction_pooler().with_settings(&one.1, true);
    assert_eq!(pooled.get_options(), Some("-c search_path=shop"));
}

#[test]
fn primary_is_read_by_default() {
    let role = |address: &str| Options::parse(address).unwrap().role;
    assert_eq!(role("postgres://one,two/db"), Role::Primary);
    assert_eq!(role("host=one target_session_attrs=any"), Role::Any);
    assert_eq!(role("postgres://one/db?target_session_attrs=read-only"), Role::Standby);
    assert!(Options::parse("host=one target_session_attrs=some").is_err());
}

#[test]
fn omitted_timeouts_have_defaults() {
    let (_, config) = Options::parse("postgresql://host/db").unwrap().hosts.remove(0);
    assert_eq!(config.get_connect_timeout(), Some(&CONNECT_TIMEOUT));
    assert_eq!(config.get_keepalives_idle(), KEEPALIVES_IDLE);
    assert_eq!(config.get_application_name(), Some("catalogue"));
}

#[test]
fn invalid_address_error_reveals_no_secret() {
    for wrong in [
        "postgres://me:s3cret@host/db?s3cret=1",
        "postgres://me:s3cret@host:s3cret/db",
        "postgres://",
        "s3cret",
        "postgres://me:s3cret@host/db?sslmode=prefer",
        "postgres://me:s3cret@host/db?sslmode=verify-full&sslrootcert=/nowhere",
    ] {
        let error = Options::parse(wrong).unwrap_err();
        assert!(!format!("{error} {error:?}").contains(SECRET), "{error:?}");
    }
    assert!(!format!("{:?}", Options::parse("postgres://me:s3cret@host/db").unwrap()).contains(SECRET));
}

#[test]
fn first_unencrypted_server_is_listed_unless_requested() {
    let unencrypted_servers = |address: &str| Options::parse(address).unwrap().unencrypted_servers;
    for (address, server) in [
        ("postgres://localhost,one,two/db", "one:5432"),
        ("host=/run/postgresql,db port=1,2", "db:2"),
        ("host=localhost hostaddr=10.0.0.1", "localhost:5432"),
        ("hostaddr=10.0.0.1", "10.0.0.1:5432"),
    ] {
        assert_eq!(unencrypted_servers(address), [server], "{address}");
    }
    for silent in [
        "postgres://one/db?sslmode=disable",
        "host=/run/postgresql",
        "host=localhost,127.0.0.1,::1",
        "host=db hostaddr=127.0.0.1",
    ] {
        assert!(unencrypted_servers(silent).is_empty(), "{silent}");
    }
    let replicated = Options::parse("postgres://localhost/db").unwrap().replica("postgres://two/db").unwrap();
    assert_eq!(replicated.unencrypted_servers, ["two:5432"]);
}
