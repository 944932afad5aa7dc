//! Refuses known engines that speak PostgreSQL's protocol but behave differently, before the schema is read.

use crate::connection::{Connection, Sql};
use crate::open_error::OpenError;
use crate::rows::get;

const ENGINE: Sql = Sql { text: "SELECT version()", types: &[] };

/// Refused engines: a part of their `version()`, and their name.
const REFUSED: [(&str, &str); 3] =
    [("CockroachDB ", "CockroachDB"), ("-YB-", "YugabyteDB"), (", Redshift ", "Amazon Redshift")];

/// Refuses engines that are known to behave differently.
pub(crate) async fn check(connection: &Connection) -> Result<(), OpenError> {
    let row = connection.query_one(&ENGINE, &[]).await?;
    refused(get(&row, "version")?).map_or(Ok(()), |engine| Err(OpenError::UnsupportedEngine(engine)))
}

fn refused(version: &str) -> Option<&'static str> {
    REFUSED.iter().find(|(part, _)| version.contains(part)).map(|(_, engine)| *engine)
}

#[cfg(test)]
mod tests {
    use super::refused;

    #[test]
    fn unsupported_engines_are_recognized_by_version_text() {
        for (version, engine) in [
            ("CockroachDB CCL v25.1.0 (x86_64-pc-linux-gnu, built 2025/02/14 12:00:00, go1.22.8)", "CockroachDB"),
            ("CockroachDB OSS v23.1.11 (x86_64-pc-linux-gnu)", "CockroachDB"),
            ("PostgreSQL 11.2-YB-2.20.0.0-b0 on x86_64-pc-linux-gnu, compiled by clang, 64-bit", "YugabyteDB"),
            ("PostgreSQL 15.2-YB-2.25.0.0-b0 on aarch64-unknown-linux-gnu, 64-bit", "YugabyteDB"),
            ("PostgreSQL 8.0.2 on i686-pc-linux-gnu, compiled by GCC 3.4.2, Redshift 1.0.12103", "Amazon Redshift"),
        ] {
            assert_eq!(refused(version), Some(engine), "{version}");
        }
        for version in [
            "PostgreSQL 15.18 (Debian 15.18-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc, 64-bit",
            "PostgreSQL 18.4 on x86_64-pc-linux-musl, compiled by gcc (Alpine 14.2.0) 14.2.0, 64-bit",
            "",
        ] {
            assert_eq!(refused(version), None, "{version}");
        }
    }
}
