//! Starts each example program like a reader would, calls it and stops it. Also checks files of `deployment`.

mod data;
mod deployment;
mod developer_settings;
#[path = "../../../frontends/server/tests/browser/devtools.rs"]
mod devtools;
mod frontends;
mod hosts;
mod http;
#[cfg(target_os = "linux")]
#[path = "../../../frontends/server/tests/it/inherited_signals.rs"]
mod inherited_signals;
#[path = "../../../frontends/server/tests/it/issuer/packages.rs"]
mod issuer_packages;
#[path = "../../../frontends/server/tests/browser/keyboard.rs"]
mod keyboard;
mod oauth;
mod own_authenticator;
mod own_storage;
#[path = "../../../frontends/server/tests/browser/page.rs"]
#[expect(dead_code, reason = "the tests of the server use the rest of it")]
mod page;
mod program;
mod serverless;
mod settings_mounts;
#[path = "../../../frontends/server/tests/it/skip.rs"]
mod skip;
#[path = "../../../frontends/server/tests/it/tools.rs"]
mod tools;
