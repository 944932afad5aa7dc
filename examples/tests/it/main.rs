//! Each example is started as a reader would start it, called, and stopped.

mod data;
mod deployment;
mod developer_settings;
#[path = "../../../frontends/server/tests/browser/devtools.rs"]
mod devtools;
mod frontends;
mod hosts;
mod http;
#[path = "../../../frontends/server/tests/browser/keyboard.rs"]
mod keyboard;
mod own_authenticator;
mod own_storage;
#[path = "../../../frontends/server/tests/browser/page.rs"]
#[expect(dead_code, reason = "the tests of the server use the rest of it")]
mod page;
mod program;
mod serverless;
mod settings_mounts;
