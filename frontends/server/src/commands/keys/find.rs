//! `catalogue keys find`: finds the credential of a token, or of each token in a text.

use std::collections::HashSet;
use std::io::{self, BufRead, Read as _};

use catalogue_core::Timestamp;
use catalogue_core::auth::{BearerToken, TokenDigest, token_kind};
use serde_json::json;

use super::selector::{CredentialSelector, check_is_stdin};
use super::{Context, block_on, minute, minute_or_never, open, record_of};
use crate::cli::FindKey;
use crate::commands::{credentials, table};
use crate::database::Storage;
use crate::exit::Failure;
use crate::input::{stdin, unreadable};
use crate::output;

/// Length of a token in bytes.
const TOKEN_LEN: usize = 54;
/// Maximum number of bytes of a line that are read at a time.
const CHUNK_BYTES: u64 = 1 << 16;

/// Reads standard input, then opens the database. Keeps only digests of the tokens.
pub(super) fn run(find: &FindKey, context: &Context) -> Result<(), Failure> {
    let Some(source) = &find.in_text else {
        let selector = CredentialSelector::from_token(find.token.as_deref().unwrap_or_default())?;
        return block_on(async { find_one(&open(context).await?, &selector, find.json).await });
    };
    check_is_stdin(source)?;
    let tokens = token_digests(&mut stdin("any text, then Ctrl+D")).map_err(|error| unreadable(&error))?;
    if tokens.is_empty() {
        return Err(Failure::work("standard input contains no token"));
    }
    block_on(async { find_all(&open(context).await?, &tokens, find.json).await })
}

async fn find_one(storage: &Storage, selector: &CredentialSelector, json: bool) -> Result<(), Failure> {
    let record = record_of(storage.admin(), &selector.id(storage).await?).await?;
    if json {
        return credentials::print_json(storage.admin(), &record).await;
    }
    let never = || "never recorded; uses are written once a minute".to_owned();
    output::print(&table::fields([
        ("id", record.identity.credential_id.to_string()),
        ("account", record.identity.account.to_string()),
        ("name", record.name.clone().unwrap_or_else(|| "-".to_owned())),
        ("state", record.state(Timestamp::now()).name().to_owned()),
        ("scopes", record.identity.scopes.to_string()),
        ("last used (UTC)", record.last_used_at.map_or_else(never, minute)),
        ("end (UTC)", minute_or_never(record.revoked_at.or(record.expires_at))),
    ]))
}

async fn find_all(storage: &Storage, tokens: &[(u64, TokenDigest)], json: bool) -> Result<(), Failure> {
    let (now, mut items, mut rows, mut is_any_known) = (Timestamp::now(), Vec::new(), Vec::new(), false);
    for (line, digest) in tokens {
        let record = match storage.credentials().find_credential(digest).await? {
            Some(found) => storage.admin().find_credential_record(&found.identity.credential_id).await?,
            None => None,
        };
        is_any_known |= record.is_some();
        let id = record.as_ref().map(|record| record.identity.credential_id.to_string());
        let account = record.as_ref().map(|record| record.identity.account.to_string());
        let state = record.as_ref().map_or("unknown", |record| record.state(now).name());
        let last_used = record.as_ref().and_then(|record| record.last_used_at);
        items.push(json!({ "line": line, "id": id, "account": account, "state": state, "lastUsedAt": last_used }));
        let last_used = if id.is_some() { minute_or_never(last_used) } else { "-".to_owned() };
        let [id, account] = [id, account].map(|text| text.unwrap_or_else(|| "-".to_owned()));
        rows.push([line.to_string(), id, account, state.to_owned(), last_used]);
    }
    let headings = ["LINE", "ID", "ACCOUNT", "STATE", "LAST USED (UTC)"];
    if json {
        output::print_json(&items)?;
    } else {
        output::print(&table::aligned(headings, rows.into_iter()))?;
    }
    if is_any_known { Ok(()) } else { Err(Failure::work("no credential has any of these tokens")) }
}

/// Returns the digest of each distinct token in a text, and the number of the first line that contains it.
fn token_digests(input: &mut impl BufRead) -> io::Result<Vec<(u64, TokenDigest)>> {
    let (mut found, mut seen, mut line, mut text) = (Vec::new(), HashSet::new(), 1, Vec::new());
    while input.by_ref().take(CHUNK_BYTES).read_until(b'\n', &mut text)? > 0 {
        // UTF-16 within a text, as appended by `>>` of Windows PowerShell, has a zero byte next to each character of a token.
        text.retain(|byte| *byte != 0);
        for candidate in text.windows(TOKEN_LEN).filter(|candidate| candidate[4] == b'_') {
            let token = str::from_utf8(candidate).ok().filter(|text| token_kind(text).is_some());
            let digest = token.and_then(BearerToken::new).map(|token| token.digest());
            found.extend(digest.filter(|digest| seen.insert(*digest)).map(|digest| (line, digest)));
        }
        if text.ends_with(b"\n") {
            text.clear();
            line += 1;
        } else {
            // A token may continue in the next chunk.
            text.drain(..text.len().saturating_sub(TOKEN_LEN - 1));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use catalogue_core::auth::{CredentialKind, NewToken};

    use super::*;

    #[test]
    fn tokens_are_found_anywhere_in_lines_of_any_length() {
        let token = NewToken::mint(CredentialKind::OAuth);
        for before in (0..70).chain(CHUNK_BYTES as usize - 70..=CHUNK_BYTES as usize + 70) {
            let text = format!(
                "\n{}{}y\n{}",
                "\u{e9}".repeat(before % 2) + &"x".repeat(before),
                token.expose(),
                token.expose()
            );
            assert_eq!(token_digests(&mut text.as_bytes()).unwrap(), [(2, token.digest())], "{before}");
        }
        let cut = &token.expose()[..TOKEN_LEN - 1];
        let typed = format!("{cut}\n{cut}_\n{}", cut.to_uppercase());
        assert_eq!(token_digests(&mut typed.as_bytes()).unwrap(), []);
        assert_eq!(token_digests(&mut &b"\xff\n\n"[..]).unwrap(), []);
    }
}
