//! The HTTP/1 serving loop: from a listening socket to a tower service.
//!
//! hyper reads and writes the messages. What it leaves open is here: how long a connection may be silent or slow, how
//! many there may be, which heads are refused, what becomes of a body that nobody wants, and how to stop without
//! losing a request that has arrived.
//!
//! A connection is one task. In it run hyper's connection over a [`stream`] that notes every byte in an [`activity`]
//! record, the [`service`] of the caller behind the checks of [`head`], and a [`watchdog`] with a single timer that
//! reads the record.

mod accept;
mod activity;
mod body;
mod connection;
mod counts;
mod head;
mod limits;
mod service;
mod stream;
mod tail;
#[cfg(test)]
mod tests;
mod watchdog;

pub(crate) use accept::serve;
pub(crate) use counts::Counts;
pub(crate) use limits::Limits;
