//! Connections of the request path: the servers of a connection string, a pool of connections to them, and replicas.

pub(crate) mod host_config;
pub(crate) mod hosts;
pub(crate) mod lag;
mod pool;
pub(crate) mod readers;
mod replicas;
pub(crate) mod role;
