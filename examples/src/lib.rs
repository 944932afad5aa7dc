//! Shared code of the examples: options, errors, and the listener, log and shutdown of servers.

/// Compiles the programs in READMEs of the workspace: this package depends on all packages that the programs use.
#[cfg(doctest)]
mod readmes {
    #[doc = include_str!("../../README.md")]
    struct Workspace;
    #[doc = include_str!("../../catalogue-core/README.md")]
    struct Core;
    #[doc = include_str!("../../frontends/actix/README.md")]
    struct Actix;
    #[doc = include_str!("../../frontends/settings/README.md")]
    struct Settings;
    #[doc = include_str!("../../frontends/tower/README.md")]
    struct Tower;
    #[doc = include_str!("../../frontends/warp/README.md")]
    struct Warp;
}

mod arguments;
mod failure;
mod serving;

pub use arguments::{Arguments, database};
pub use failure::Failure;
pub use serving::{listen, log, stop_signal};
