//! The developer settings of the course catalogue API (section 5.1): pages and JSON with which the owner of an account creates
//! keys, chooses their scopes, rotates and revokes them. From [`http::Request`] to [`http::Response`], without framework,
//! runtime or database.
//!
//! A host application with users mounts [`DeveloperSettings`] and passes the owner with each request:
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
//! let owner = Owner::new(AccountId::new("acc_demo")).acting_as("user_17").display_name("Demo school");
//! let request = http::Request::get("/settings").body(String::new())?;
//! let response = settings.call_as(owner, request).await;
//! assert_eq!(response.status(), http::StatusCode::NOT_FOUND); // the storage is empty: it has no such account
//! # Ok(())
//! # }
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(run()).unwrap();
//! ```
//!
//! A program without users has [`SignInSettings`], with single-use sign-in links and built-in sessions.
//!
//! The pages work without scripts. Each response has `Cache-Control: no-store` and a strict Content Security Policy.
//! Forms are accepted only from pages of the settings' own origin, as reported by the browser. Bearer tokens are never read: a
//! key cannot create keys. A key's token is in one response, and is stored as a digest.
//!
//! A 500 response does not reveal its cause, which goes to `tracing` with the response's request id. Each change is also logged
//! at the level `info` with the target `catalogue::audit`. Each response has [`RequestLabels`] among its extensions.

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
mod response;
mod route;
mod security;
mod settings;
mod sign_in;
mod times;
mod urls;

pub use builder::SettingsBuilder;
pub use error::SettingsError;
pub use owner::Owner;
pub use settings::{DeveloperSettings, RequestLabels};
pub use sign_in::{DEFAULT_LINK_LIFETIME, LINK_PREFIX, MAX_LINK_LIFETIME, SignInLink, SignInSettings};
