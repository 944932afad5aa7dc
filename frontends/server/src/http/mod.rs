//! The serving loop: from a listening socket to a tower service, over HTTP/1 in cleartext, over HTTP/1 or HTTP/2 in
//! [`tls`].
//!
//! hyper reads and writes the messages. What it leaves open is here: how long a connection may be silent or slow, how
//! many there may be, which heads are refused, what becomes of a body that nobody wants, and how to stop without
//! losing a request that has arrived.
//!
//! A connection is one task. In it run hyper's connection over a [`stream`] that notes every byte in an [`activity`]
//! record, the [`service`] of the caller behind the checks of [`head`], and a [`watchdog`] with a single timer that
//! reads the record. Of a connection of HTTP/2 the record has the [`http2`] frames.

mod accept;
mod activity;
mod backlog;
mod body;
mod claim;
mod client;
mod connection;
mod counts;
mod crowd;
mod delivery;
mod forwarded;
mod head;
mod http2;
mod limits;
mod network;
mod relief;
mod service;
mod socket;
mod stream;
mod tail;
#[cfg(test)]
mod tests;
mod tls;
mod watchdog;
mod work;

pub(crate) use accept::{Front, serve};
pub(crate) use counts::Counts;
pub(crate) use limits::Limits;
pub(crate) use network::{Network, Networks};
pub(crate) use tls::{PairFiles, Tls, keep_renewed};
