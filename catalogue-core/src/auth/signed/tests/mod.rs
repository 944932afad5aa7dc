//! Signed tokens, from their text to what becomes of them. Each attack is a line, with the word of decision O32.

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
