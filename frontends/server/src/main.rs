//! The standalone server.
fn main() {}
