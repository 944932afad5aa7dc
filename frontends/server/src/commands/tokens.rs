//! `catalogue tokens`

use catalogue_core::CredentialKind;

use super::{Context, block_on, credentials};
use crate::cli::TokensCommand;
use crate::exit::Failure;

pub(super) fn run(command: TokensCommand, context: &Context) -> Result<(), Failure> {
    let TokensCommand::Create(create) = command;
    let database = context.database()?;
    block_on(async {
        let storage = database.open().await?;
        credentials::create(storage.admin(), CredentialKind::OAuth, None, &create.grant).await
    })
}
