//! [`FrontSettings`]: how `serve` meets its clients.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::cli::FrontArguments;
use crate::config::{Layers, Setting, Sourced};
use crate::duration;
use crate::exit::{Failure, chain};
use crate::http::{Front, Limits, Network, Networks, PairFiles, Tls};

/// How many requests are answered at the same time unless `--max-in-flight` says otherwise: more than any storage works
/// at, and few enough that those who wait are answered within a storage's own deadlines.
const DEFAULT_IN_FLIGHT: usize = 1_000;

/// How many requests of HTTP/2 may be unanswered however few connections there may be: ten clients with all streams that
/// they may have.
const LEAST_UNANSWERED: u32 = 1_000;

/// The longest that a request can be given. A longer time is as good as none.
const LONGEST_REQUEST: Duration = Duration::from_secs(24 * 60 * 60);

/// What `serve` can be told of its clients.
#[derive(Debug)]
pub(super) struct FrontSettings {
    /// The files, and the setting that names the first of them.
    tls: Option<Sourced<PairFiles>>,
    proxies: Networks,
    limits: Limits,
    /// Requests at the same time.
    pub(super) max_in_flight: usize,
}

impl FrontSettings {
    pub(super) fn resolve(layers: &Layers, arguments: FrontArguments) -> Result<Self, Failure> {
        let mut limits = Limits::default();
        if let Some(connections) = layers.text(Setting::MaxConnections, arguments.max_connections)? {
            limits.connections = connections.parse(|text| count(text))?;
            limits.unanswered = limits.connections.max(LEAST_UNANSWERED);
        }
        if let Some(time) = layers.text(Setting::RequestTimeout, arguments.request_timeout)? {
            limits.request_time = time.parse(|text| request_timeout(text))?;
        }
        let in_flight = layers.text(Setting::MaxInFlight, arguments.max_in_flight)?;
        let in_flight = in_flight.map(|text| text.parse(|text| count(text))).transpose()?;
        let proxies = layers.list(Setting::TrustedProxies, arguments.trusted_proxies)?;
        let networks = |texts: &Vec<String>| texts.iter().map(|text| text.parse::<Network>()).collect();
        Ok(Self {
            tls: tls_files(layers, arguments.tls_cert, arguments.tls_key)?,
            proxies: proxies.map(|texts| texts.parse(networks)).transpose()?.unwrap_or_default(),
            limits,
            max_in_flight: in_flight.map_or(DEFAULT_IN_FLIGHT, |number: u32| number as usize),
        })
    }

    /// Reads the certificate; what is wrong with it is said here, and not when the first client comes.
    pub(super) fn front(&self) -> Result<Front, Failure> {
        let tls = self.tls.as_ref().map(|Sourced { value, source }| {
            Tls::load(value.clone()).map_err(|error| Failure::work(format!("{source}: {}", chain(&error))))
        });
        let tls = tls.transpose()?.map(Arc::new);
        Ok(Front { limits: self.limits, tls, proxies: self.proxies.clone(), ..Front::default() })
    }
}

/// The certificate and its key, which are given together.
fn tls_files(
    layers: &Layers,
    certificate: Option<String>,
    key: Option<String>,
) -> Result<Option<Sourced<PairFiles>>, Failure> {
    let certificate = layers.text(Setting::TlsCert, certificate)?;
    let key = layers.text(Setting::TlsKey, key)?;
    match (certificate, key) {
        (None, None) => Ok(None),
        (Some(certificate), Some(key)) => {
            let files = PairFiles { certificate: PathBuf::from(certificate.value), key: PathBuf::from(key.value) };
            Ok(Some(Sourced { value: files, source: format!("{} and {}", certificate.source, key.source) }))
        }
        (Some(alone), None) => Err(alone.wrong(&"a certificate needs its key; name the file with --tls-key")),
        (None, Some(alone)) => Err(alone.wrong(&"a key needs its certificate; name the file with --tls-cert")),
    }
}

/// Reads a number of connections or requests.
fn count(text: &str) -> Result<u32, String> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    // More than a semaphore of the runtime counts is more than any machine has.
    let number = text.parse().ok().filter(|number| digits && (1..=1 << 28).contains(number));
    number.ok_or_else(|| format!("{text:?} is not a number that can be; write a whole one from 1 on, like 1000"))
}

fn request_timeout(text: &str) -> Result<Duration, String> {
    let time = duration::parse(text)?;
    if time.is_zero() {
        return Err(format!("{text:?} leaves no time for an answer; write a duration like 60s"));
    }
    Ok(time.min(LONGEST_REQUEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_begin_with_one() {
        assert_eq!(count("1"), Ok(1));
        assert_eq!(count("10000"), Ok(10_000));
        for text in ["", "0", "-1", "+1", "1.5", "many", "4294967296", "268435457"] {
            assert!(count(text).unwrap_err().contains("like 1000"), "{text}");
        }
    }

    #[test]
    fn a_request_gets_some_time_and_not_for_ever() {
        assert_eq!(request_timeout("5s"), Ok(Duration::from_secs(5)));
        assert_eq!(request_timeout("1000000000000d"), Ok(LONGEST_REQUEST));
        assert!(request_timeout("0s").unwrap_err().contains("like 60s"));
        assert!(request_timeout("soon").is_err());
    }
}
