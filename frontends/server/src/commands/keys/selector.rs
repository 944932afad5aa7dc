//! Selection of the credential that a command is for: by id, or by a token on standard input.

use std::io::Read as _;
use std::sync::Arc;

use catalogue_core::auth::{BearerToken, TokenDigest, token_kind};

use crate::commands::credentials;
use crate::database::Storage;
use crate::exit::Failure;
use crate::input::{stdin, unreadable};

/// Maximum length of a token in bytes (decision O7).
const MAX_BYTES: u64 = 1 << 13;

/// Reads the only token on standard input into `text`. Messages name `command` as an example.
pub(super) fn read_token<'t>(text: &'t mut String, command: &str) -> Result<BearerToken<'t>, Failure> {
    let mut read = Vec::new();
    stdin("one token, then Ctrl+D").take(MAX_BYTES + 1).read_to_end(&mut read).map_err(|error| unreadable(&error))?;
    // Two lines stand for input that is not UTF-8: they are not a single token, so they are refused below.
    *text = String::from_utf8(read).unwrap_or_else(|_| "?\n?".to_owned());
    let token = text.trim();
    if token.is_empty() {
        return Err(Failure::work(format!("standard input contains no token; pass one, e.g. `{command} < FILE`")));
    }
    let token = BearerToken::new(token).filter(|token| token.expose().len() as u64 <= MAX_BYTES);
    token.ok_or_else(|| Failure::work("standard input is not a single token; pass one and nothing else"))
}

/// A credential, by its id or by the digest of its token. The token itself is not kept.
pub(super) enum CredentialSelector {
    Id(Arc<str>),
    Token { digest: TokenDigest, is_well_formed: bool },
}

/// Refuses a token on a command line, without repeating it.
pub(super) fn check_is_stdin(source: &str) -> Result<(), Failure> {
    if source == "-" {
        return Ok(());
    }
    Err(Failure::usage("pass - and the token on standard input: other users can read command lines"))
}

impl CredentialSelector {
    /// Selects by `id` if the command line has one, or else by the token on standard input.
    pub(super) fn of(id: Option<&str>, token: Option<&str>) -> Result<Self, Failure> {
        match (id, token) {
            (Some(id), _) if credentials::looks_like_token(id) => Err(credentials::unknown_id(id)),
            (Some(id), _) => Ok(Self::Id(id.into())),
            (None, token) => Self::from_token(token.unwrap_or_default()),
        }
    }

    /// Selects the credential whose token is on standard input, for which `source` must be `-`.
    pub(super) fn from_token(source: &str) -> Result<Self, Failure> {
        check_is_stdin(source)?;
        let mut text = String::new();
        let token = read_token(&mut text, "keys find -")?;
        Ok(Self::Token { digest: token.digest(), is_well_formed: token_kind(token.expose()).is_some() })
    }

    /// Returns the credential's id. Fails if no credential has the token.
    pub(super) async fn id(&self, storage: &Storage) -> Result<Arc<str>, Failure> {
        let (digest, is_well_formed) = match self {
            Self::Id(id) => return Ok(Arc::clone(id)),
            Self::Token { digest, is_well_formed } => (digest, *is_well_formed),
        };
        let found = storage.credentials().find_credential(digest).await?;
        found.map(|credential| credential.identity.credential_id).ok_or_else(|| {
            Failure::work(match is_well_formed {
                true => "no credential has this token",
                false => "no credential has this token: it is malformed, so it may be cut or mistyped",
            })
        })
    }
}
