//! The reference page and the developer settings in a real browser: headless Chromium, over its `DevTools` protocol.
//!
//! If Chromium is not installed, the tests print a line and pass, unless `CATALOGUE_TEST_REQUIRE` names `chromium`.

mod axe;
mod devtools;
mod forms;
mod host;
#[cfg(target_os = "linux")]
#[path = "../it/inherited_signals.rs"]
mod inherited_signals;
mod keyboard;
mod looks;
mod page;
mod pictures;
mod policy;
#[path = "../it/program.rs"]
#[expect(dead_code, reason = "the tests of the command line use the rest of it")]
mod program;
mod reading;
mod settings;
#[path = "../it/skip.rs"]
mod skip;
#[path = "../it/tools.rs"]
#[expect(dead_code, reason = "the tests of clients use the rest of it")]
mod tools;
