#![doc = include_str!("../README.md")]

mod client;
mod exchange;
mod introspection;
mod keys;
mod refresh;
mod url;

pub use client::{HttpClient, NoCertificates, client};
pub use introspection::{ClientCredentials, Introspection};
pub use keys::{FetchedKeys, IssuerKeys, KeySource};
pub use refresh::{keep_fetching, keep_fetching_with_trigger};
pub use url::{InvalidUrl, IssuerUrl, parse_server_url};
