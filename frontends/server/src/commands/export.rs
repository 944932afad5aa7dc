//! `catalogue export`

use std::io;

use super::{Context, block_on};
use crate::exit::Failure;
use crate::export;

pub(super) fn run(context: &Context) -> Result<(), Failure> {
    let storage = context.database()?.open()?;
    block_on(export::run(&storage, io::stdout()))
}
