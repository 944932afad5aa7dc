#![doc = include_str!("../README.md")]

mod address;
mod client;
mod exchange;
mod introspection;
mod keys;
mod refresh;

pub use address::{InvalidAddress, IssuerAddress, http_address};
pub use client::{HttpClient, NoCertificates, client};
pub use introspection::{ClientCredentials, Introspection};
pub use keys::{FetchedKeys, IssuerKeys, KeySource};
pub use refresh::{keep_fetching, keep_fetching_on};
