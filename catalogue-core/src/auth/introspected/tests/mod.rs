//! Tests of opaque tokens, with a scripted issuer.

mod answers;
mod asked;
mod fixture;
mod keeping;
mod sharing;
