//! Each example is started as a reader would start it, called, and stopped.

mod data;
mod deployment;
mod frontends;
mod hosts;
mod http;
mod own_authenticator;
mod own_storage;
mod program;
mod serverless;
