//! What the examples share: their options, how they say what went wrong, and when a server stops.

/// The programs in the READMEs are compiled here, where all frontends and a storage are.
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
