//! Opaque tokens, over an issuer that does what it is told.

mod answers;
mod asked;
mod fixture;
mod keeping;
mod sharing;
