//! A request's head: whether a server may act on it, and who has sent it.

pub(crate) mod client_address;
mod forwarded;
pub(crate) mod networks;
pub(crate) mod validate;
