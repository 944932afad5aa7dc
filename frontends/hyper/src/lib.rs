#![doc = include_str!("../README.md")]

mod close_reason;
mod config;
mod connection;
mod http1;
mod http2;
mod listener;
mod metrics;
mod open_request;
mod registry;
mod request;
mod request_body;
mod response_body;
mod service;
#[cfg(test)]
mod tests;
mod tls;

pub use catalogue_core::limit::ClientAddress;
pub use close_reason::CloseReason;
pub use config::{Limits, ServerConfig, Timeouts};
pub use listener::serve;
pub use metrics::ConnectionMetrics;
pub use request::PeerAddress;
pub use request::networks::Networks;
pub use request_body::RequestBody;
pub use service::TowerService;
pub use tls::{
    CertificateFileError, CertificateFiles, CertificateProblem, Tls, Validity, read_short_file, reload_certificate,
};
