//! Fuzz targets for untrusted input. A target's function `check` calls the code as a client does, and panics if the result
//! violates a rule or differs from another library's. The fuzzer calls it, and so does the test of the seeds.

mod call;
mod cursor;
mod echo;
mod forwarded;
mod head;
mod import_line;
mod jwt_header;
mod jwt_payload;
mod key_set;
mod path;
mod query;
mod settings;
mod signers;
mod token;

/// A target's name and its check of an input. Its seeds, and its dictionary if it has one, have the same name.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 11] = [
    ("cursor", cursor::check),
    ("forwarded", forwarded::check),
    ("head", head::check),
    ("import_line", import_line::check),
    ("jwt_header", jwt_header::check),
    ("jwt_payload", jwt_payload::check),
    ("key_set", key_set::check),
    ("path", path::check),
    ("query", query::check),
    ("settings", settings::check),
    ("token", token::check),
];
