//! The developer settings of the course catalogue API (section 5.1): pages and JSON by which the owner of an account
//! creates keys, chooses their scopes, rotates and revokes them. From [`http::Request`] to [`http::Response`], without
//! framework, runtime or database.
//!
//! A host with users mounts [`DeveloperSettings`] and says who each request's owner is:
//!
//! ```
//! use catalogue_core::AccountId;
//! use catalogue_core::storage::MemoryStorage;
//! use catalogue_settings::{DeveloperSettings, Owner};
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let settings = DeveloperSettings::builder(MemoryStorage::new())
//!     .settings_url("/settings")
//!     .base_url("/api/v1")
//!     .docs_url("/docs")
//!     .build()?;
//!
//! let owner = Owner::new(AccountId::new("acc_demo")).acting_as("user_17").named("Demo school");
//! let request = http::Request::get("/settings").body(String::new())?;
//! let response = settings.call_as(owner, request).await;
//! assert_eq!(response.status(), http::StatusCode::NOT_FOUND); // the storage is empty: it has no such account
//! # Ok(())
//! # }
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(run()).unwrap();
//! ```
//!
//! A program without users has [`SignInSettings`], with links that sign in once and sessions of its own.
//!
//! The pages are complete without script. Each answer has `Cache-Control: no-store` and a strict Content Security Policy;
//! a form is taken from a page of the settings' own origin alone, as the browser says it. A bearer token is never read: a
//! key cannot make keys. A key's token stands in one answer and is kept as a digest.
//!
//! An answer 500 says nothing of its cause; that goes to `tracing`, with the answer's request id. Each change is also a line
//! at the level `info` with the target `catalogue::audit`. Each answer has an [`Answered`] among its extensions.

mod addresses;
mod answer;
mod api;
mod body;
mod builder;
mod calendar;
mod call;
mod error;
mod failure;
mod form;
mod input;
mod key;
mod nonce;
mod owner;
mod pages;
mod route;
mod security;
mod settings;
mod sign_in;
mod times;

pub use builder::SettingsBuilder;
pub use error::SettingsError;
pub use owner::Owner;
pub use settings::{Answered, DeveloperSettings};
pub use sign_in::{DEFAULT_LINK_LIFETIME, LINK_PREFIX, MAX_LINK_LIFETIME, SignInLink, SignInSettings};
