//! [`Fault`]: what is wrong with a configuration file.

use super::Setting;

/// One thing that is wrong with a configuration file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// What is wrong, and where.
    pub(crate) message: String,
    /// The settings of which the file may have meant to say something: all of them where nothing can be read.
    pub(crate) settings: Vec<Setting>,
}

impl Fault {
    /// Nothing can be read.
    pub(super) fn of_all(message: String) -> Self {
        Self { message, settings: Setting::ALL.to_vec() }
    }
}
