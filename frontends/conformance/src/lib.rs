//! The suite that every frontend of the course catalogue passes, ours and a host's.
//!
//! A frontend does nothing but convert: over it, every request has the status, the headers and the bytes that
//! [`Catalogue::call`] answers. What that takes stands in [the core's documentation](catalogue_core#any-other-framework).
//! [`tests!`] makes a named test of each case, which sends a request over a socket and compares. All that a frontend has to
//! write is a fixture: an async function that mounts a [`Catalogue`], serves it on the loopback interface, and returns a
//! [`Server`].
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
//! In a crate's `tests/conformance.rs` that is the whole file. Each test calls the fixture once, on a tokio runtime of
//! its own with one thread, and drops what the fixture returned when it is over.
//!
//! The catalogue stands at [`BASE`] and [`DOCS`], so a fixture can also mount it below those two by a router that takes
//! them off the path, as long as every other path reaches it too.
//!
//! What the framework itself does otherwise, before a request reaches the frontend or after an answer has left it, the
//! fixture declares, so that the server under test is the one that is shipped:
//!
//! | The framework | Declared with |
//! | --- | --- |
//! | answers a case, or one request of it, with another status, or not at all | [`Server::except`] |
//! | answers one with the same status and another body | [`Server::other_body`] |
//! | adds headers to every answer | [`Server::adds`] |
//! | drops headers from every answer | [`Server::drops`] |
//!
//! No case is left out: one fails unless all is as it was declared to be, and also where there was nothing to declare.
//!
//! A case fails by panicking, with the rule that was broken, in one line and without a backtrace. Headers are compared by
//! name, all values in their order. Beside those of the catalogue a server may send `Date`, `Connection`, `Keep-Alive` and
//! `Strict-Transport-Security`, and nothing else that was not declared.

#![expect(clippy::missing_panics_doc, reason = "panicking is how a case fails")]

pub mod answers;
pub mod bodies;
pub mod credentials;
pub mod headers;
pub mod http1;
pub mod methods;
pub mod path;
pub mod query;

mod answer;
mod ask;
mod cases;
mod declared;
mod frontend;
mod seed;
mod server;
mod wire;

#[doc(hidden)]
pub use catalogue_core::Catalogue;

#[doc(hidden)]
pub use cases::cases;
pub use frontend::Frontend;
#[doc(hidden)]
pub use frontend::{Protocol, run};
pub use seed::{BASE, DOCS};
pub use server::Server;
