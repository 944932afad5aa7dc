//! `catalogue export`

use std::io;

use super::{Context, block_on};
use crate::exit::Failure;
use crate::export;

pub(super) fn run(context: &Context) -> Result<(), Failure> {
    let database = context.database()?;
    block_on(async { export::run(database.open().await?.admin(), io::stdout()).await })
}
