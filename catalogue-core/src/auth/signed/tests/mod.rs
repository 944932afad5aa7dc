//! Signed tokens, from their text to the outcome. Each attack is a line with its outcome of decision O32.

mod caching;
mod claims;
mod fetching;
pub(in crate::auth) mod fixture;
mod header;
mod key_set;
mod properties;
mod revocation;
mod signature;
mod syntax;
mod waiting;
