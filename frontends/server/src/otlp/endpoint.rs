//! URL of a span collector.

use catalogue_issuer::parse_server_url;
use http::Uri;
use http::uri::Builder;

const HINT: &str = "use http://HOST:PORT or https://HOST:PORT, like http://127.0.0.1:4318";

/// Path that OTLP appends to a collector's URL for traces.
const TRACES: &str = "/v1/traces";

/// Parses a collector's URL and appends [`TRACES`]. Messages do not repeat the URL: it could hold a password.
pub(crate) fn parse(text: &str) -> Result<Uri, String> {
    let uri = parse_server_url(text, "collector", HINT).map_err(|error| error.to_string())?;
    let base = uri.path().trim_end_matches('/');
    if uri.query().is_some() {
        return Err(format!("the URL of the collector has a query; {HINT}"));
    }
    if base.ends_with(TRACES) {
        return Err(format!("{TRACES} is appended to the URL of the collector; {HINT}"));
    }
    let path = format!("{base}{TRACES}");
    Builder::from(uri).path_and_query(path).build().map_err(|_| HINT.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_path_is_appended() {
        for (text, expected) in [
            ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
            ("http://collector/", "http://collector/v1/traces"),
            ("https://otlp.example.com/a/b/", "https://otlp.example.com/a/b/v1/traces"),
            ("HTTP://[::1]:4318", "http://[::1]:4318/v1/traces"),
            ("https://[::1]", "https://[::1]/v1/traces"),
        ] {
            assert_eq!(parse(text).unwrap().to_string(), expected);
        }
    }

    #[test]
    fn invalid_endpoint_is_refused_without_being_printed() {
        for text in [
            "",
            "hunter2",
            "hunter2:4318",
            "grpc://hunter2:4317",
            "http://",
            "http:///hunter2",
            "http://hunter2:",
            "http://hunter2:65536",
            "http://hunter2:port",
            "http://user:hunter2@collector",
            "http://collector?key=hunter2",
            "http://collector#hunter2",
            "http://collector/hunter2/v1/traces",
            "http://hunter 2",
            "https://hunter-:4318",
        ] {
            let message = parse(text).unwrap_err();
            assert!(message.contains("like http://127.0.0.1:4318") && !message.contains("hunter"), "{text}: {message}");
        }
    }
}
