//! What systemd asks of a service: word of its readiness and of reloads, a sign of life, and a socket taken over. Without systemd nothing
//! of it happens.

#[cfg(unix)]
mod activation;
#[cfg(unix)]
mod notification;

#[cfg(unix)]
pub(crate) use activation::inherited_listener;
#[cfg(unix)]
pub(crate) use notification::{Reload, keep_alive, ready, stopping};

#[cfg(not(unix))]
mod elsewhere;
#[cfg(not(unix))]
pub(crate) use elsewhere::{Reload, inherited_listener, keep_alive, ready, stopping};
