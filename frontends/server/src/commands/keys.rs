//! `catalogue keys`

use catalogue_core::{AccountId, AdminStorage, CredentialKind, CredentialRecord, Timestamp};

use super::credentials::{self, Shown};
use super::{Context, block_on, table};
use crate::cli::{KeysCommand, ListKeys, RevokeKey};
use crate::exit::Failure;
use crate::output;

const HEADINGS: [&str; 8] = ["ID", "NAME", "KIND", "STARTS WITH", "SCOPES", "CREATED", "EXPIRES", "REVOKED"];

pub(super) fn run(command: KeysCommand, context: &Context) -> Result<(), Failure> {
    let storage = context.database()?.open()?;
    block_on(async {
        match command {
            KeysCommand::Create(create) => {
                credentials::create(&storage, CredentialKind::ApiKey, Some(create.name), &create.grant).await
            }
            KeysCommand::List(list) => show(&storage, &list).await,
            KeysCommand::Revoke(revoke) => self::revoke(&storage, &revoke).await,
        }
    })
}

async fn show(storage: &dyn AdminStorage, list: &ListKeys) -> Result<(), Failure> {
    let account = AccountId::new(&*list.account);
    let records = storage.list_credentials(&account).await.map_err(|error| Failure::because(&error))?;
    let records = records.ok_or_else(|| credentials::unknown_account(&list.account))?;
    if list.json {
        return output::print_json(&records.iter().map(Shown::from).collect::<Vec<_>>());
    }
    output::print(&table::aligned(HEADINGS, records.iter().map(row)))
}

/// The longest id of a credential: `oauth:` and 32 digits.
const MAX_ID: usize = 38;

/// Whether `text` could be a credential's id. A longer text, or one of a token's form, is not repeated: whoever pasted a
/// token for an id must not find it in a log.
fn could_be_id(text: &str) -> bool {
    text.len() <= MAX_ID && !["ccat_", "cato_"].iter().any(|prefix| text.starts_with(prefix))
}

fn row(record: &CredentialRecord) -> [String; 8] {
    let time = |time: Option<Timestamp>| time.map_or_else(|| "-".to_owned(), |time| time.to_string());
    [
        record.identity.credential_id.clone(),
        record.name.clone().unwrap_or_else(|| "-".to_owned()),
        record.identity.kind.name().to_owned(),
        record.shown_prefix.clone(),
        record.identity.scopes.to_string(),
        record.created_at.to_string(),
        time(record.expires_at),
        time(record.revoked_at),
    ]
}

async fn revoke(storage: &dyn AdminStorage, revoke: &RevokeKey) -> Result<(), Failure> {
    let now = Timestamp::now();
    let record = storage.revoke_credential(&revoke.id, now).await.map_err(|error| Failure::because(&error))?;
    let record = record.ok_or_else(|| {
        let id = if could_be_id(&revoke.id) { format!("the id {:?}", revoke.id) } else { "this id".to_owned() };
        Failure::work(format!("there is no credential with {id}; `keys list --account ID` shows those of an account"))
    })?;
    if revoke.json {
        return output::print_json(&Shown::from(&record));
    }
    let id = &record.identity.credential_id;
    output::print(&match record.revoked_at {
        Some(before) if before < now => format!("{id} was revoked before, at {before}"),
        _ => format!("{id} is revoked"),
    })
}
