//! Untrusted input, and properties of the response: nothing panics, and it agrees with a library or a rule. Each module is a
//! target, with a function `check` for the fuzzer and for the test of the seeds.

mod ask;
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

/// A target: its name, which is also that of its seeds and its dictionary, and the check of an input.
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
