//! Connections of the request path: the servers of an address, a pool of connections to them, and replicas.

pub(crate) mod hosts;
pub(crate) mod lag;
pub(crate) mod one_host;
mod pool;
pub(crate) mod readers;
mod replicas;
pub(crate) mod role;
