//! Signed tokens, from their text to the outcome. Each attack is a line with its word of decision O32.

mod claims;
mod fetching;
mod fixture;
mod form;
mod header;
mod keeping;
mod key_set;
mod laws;
mod revocation;
mod rfc_examples;
mod signature;
mod table;
mod waiting;
