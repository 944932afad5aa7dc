//! [`Faults`]: what is wrong with an input as a whole.

use std::collections::BTreeMap;

use crate::exit::Failure;

/// How many are told: what is wrong with each line of a long input would fill the terminal.
const MOST: usize = 20;

/// What is wrong with each line, by its number; 0 where it is with none of them.
#[derive(Debug, Default)]
pub(super) struct Faults(BTreeMap<u64, String>);

impl Faults {
    /// Notes what is wrong with a line, which may be noted already.
    pub(super) fn add(&mut self, line: u64, what: String) {
        self.0.insert(line, what);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether it is time to stop.
    pub(super) fn is_full(&self) -> bool {
        self.0.len() >= MOST
    }

    /// A failure where there is a fault.
    pub(super) fn finish(self, name: &str) -> Result<(), Failure> {
        let line = |(number, what): (&u64, &String)| match number {
            0 => format!("{name}: {what}"),
            _ => format!("{name}: line {number}: {what}"),
        };
        let lines: Vec<_> = self.0.iter().map(line).collect();
        let count = match lines.len() {
            0 => return Ok(()),
            1 => return Err(Failure::work(&lines[0])),
            MOST => format!("{name} has {MOST} faults and perhaps more, as the check stopped there"),
            count => format!("{name} has {count} faults"),
        };
        let heading = format!("{count}; nothing was imported:");
        Err(Failure::faults_of_input([&*heading].into_iter().chain(lines.iter().map(|line| &**line))))
    }
}
