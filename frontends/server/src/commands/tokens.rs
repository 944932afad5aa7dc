//! `catalogue tokens`

use catalogue_core::CredentialKind;

use super::{Context, block_on, credentials};
use crate::cli::TokensCommand;
use crate::exit::Failure;

pub(super) fn run(command: TokensCommand, context: &Context) -> Result<(), Failure> {
    let TokensCommand::Create(create) = command;
    let storage = context.database()?.open()?;
    block_on(credentials::create(&storage, CredentialKind::OAuth, None, &create.grant))
}
