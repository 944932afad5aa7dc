//! [`Arguments`]: the options of a server with a database.

use std::net::SocketAddr;
use std::path::PathBuf;

/// The options of a server with a database, named like those of `catalogue serve`.
#[derive(Clone, Debug, clap::Parser)]
#[command(about = None)]
pub struct Arguments {
    /// Database; created if it is missing
    #[arg(long, value_name = "ADDRESS", default_value = "sqlite:catalogue.db", value_parser = database)]
    pub database: PathBuf,
    /// Address to listen on; port 0 picks a free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    pub listen: SocketAddr,
}

impl Arguments {
    /// Parses the options of this process. If one is invalid, prints a message and exits with status 2.
    #[must_use]
    pub fn from_command_line() -> Self {
        clap::Parser::parse()
    }
}

/// Parses `sqlite:PATH`.
///
/// # Errors
/// Returns a hint if `address` is anything else.
pub fn database(address: &str) -> Result<PathBuf, &'static str> {
    match address.strip_prefix("sqlite:") {
        Some(path) if !path.is_empty() && path != ":memory:" && !path.starts_with("//") => Ok(path.into()),
        _ => Err("use sqlite:PATH, such as sqlite:catalogue.db"),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[test]
    fn options_are_parsed_with_defaults() {
        let arguments = Arguments::try_parse_from(["example"]).unwrap();
        assert_eq!((arguments.database, arguments.listen.port()), ("catalogue.db".into(), 8080));
        let options = ["example", "--listen", "[::1]:0", "--database=sqlite:/a b/c.db"];
        let arguments = Arguments::try_parse_from(options).unwrap();
        assert_eq!((arguments.database, arguments.listen), ("/a b/c.db".into(), "[::1]:0".parse().unwrap()));
        for database in ["catalogue.db", "sqlite:", "sqlite::memory:", "sqlite://catalogue.db", "postgres://db/c"] {
            let error = Arguments::try_parse_from(["example", "--database", database]).unwrap_err();
            assert!(error.to_string().contains("use sqlite:PATH"), "{database}: {error}");
        }
    }
}
