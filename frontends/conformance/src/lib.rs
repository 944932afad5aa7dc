//! The test suite that every frontend of the course catalogue passes, whether built-in or a host application's.
//!
//! A frontend only converts: every request over it gets the status, the headers and the bytes that [`Catalogue::call`]
//! returns. [The core's documentation](catalogue_core#any-other-framework) describes the requirements. [`tests!`] expands to a
//! named test of each case, which sends requests over a socket and compares the responses. A frontend only has to provide a
//! fixture: an async function that mounts a [`Catalogue`], serves it on the loopback interface, and returns a [`Server`].
//!
//! ```
//! use catalogue_core::Catalogue;
//! use catalogue_frontend_conformance::Server;
//! # mod framework {
//! #     use std::net::TcpListener;
//! #     pub fn serve(_: TcpListener, _: catalogue_core::Catalogue) {}
//! # }
//!
//! async fn fixture(catalogue: Catalogue) -> Server {
//!     let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
//!     let address = listener.local_addr().unwrap();
//!     let running = framework::serve(listener, catalogue);
//!     Server::new(address, running)
//! }
//!
//! catalogue_frontend_conformance::tests!(fixture);
//! # fn main() {} // which makes the lines above stand outside of a function
//! ```
//!
//! This is the whole `tests/conformance.rs` of a crate. Each test calls the fixture once, on a dedicated single-threaded Tokio
//! runtime, and drops the returned value at its end.
//!
//! The catalogue is mounted at [`BASE`] and [`DOCS`], so a fixture can also mount it with a router that strips these prefixes,
//! if all other paths reach it too.
//!
//! The fixture declares what the framework itself changes before a request reaches the frontend or after a response has left
//! it, with the methods of [`Server`]. So the server under test is the one that is shipped.
//!
//! Every case runs. A case fails on an undeclared deviation and on a declared deviation that does not occur.
//!
//! A case fails by panicking, with the violated rule, in one line and without a backtrace. Headers are compared by name, with
//! all values in order. A server may add only `Date`, `Connection`, `Keep-Alive`, `Strict-Transport-Security` and declared
//! headers to those of the catalogue.

#![expect(clippy::missing_panics_doc, reason = "panicking is how a case fails")]

pub mod bodies;
pub mod credentials;
pub mod headers;
pub mod http1;
pub mod methods;
pub mod path;
pub mod query;
pub mod responses;

mod cases;
mod deviations;
mod frontend;
mod response;
mod seed;
mod server;
mod test_request;
mod wire;

#[doc(hidden)]
pub use catalogue_core::Catalogue;

#[doc(hidden)]
pub use cases::cases;
pub use frontend::Frontend;
#[doc(hidden)]
pub use frontend::{CaseFuture, Protocol, run};
pub use seed::{BASE, DOCS};
pub use server::Server;
