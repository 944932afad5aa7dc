//! Sign-in links and sessions of [`MemoryStorage`].

use std::time::Duration;

use async_trait::async_trait;

use super::keys::is_past_retention;
use super::{MemoryStorage, State, unknown_account};
use crate::model::{Account, AccountId, TokenDigest};
use crate::storage::{
    Actor, CredentialAction, CredentialEvent, MAX_REMOVED, MAX_SESSIONS, NewSession, NewSignIn, Session, SignInStorage,
    StorageError, StorageErrorKind,
};
use crate::timestamp::Timestamp;

/// Retention after expiry: of links and sessions of accounts other than a new link's, and of revoked signed tokens.
pub(super) const SIGN_IN_RETENTION: Duration = Duration::from_secs(24 * 60 * 60);

/// A link or a session.
#[derive(Clone)]
pub(super) struct SignIn {
    pub(super) account: AccountId,
    is_session: bool,
    created_at: Timestamp,
    expires_at: Timestamp,
}

impl State {
    fn limit_sessions(&mut self, account: &AccountId) {
        let sessions = self.sign_ins.iter().filter(|(_, sign_in)| sign_in.is_session && sign_in.account == *account);
        let mut sessions: Vec<_> = sessions.map(|(digest, session)| (session.created_at, *digest)).collect();
        sessions.sort_unstable();
        for (_, digest) in sessions.iter().rev().skip(MAX_SESSIONS) {
            self.sign_ins.remove(digest);
        }
    }
}

#[async_trait]
impl SignInStorage for MemoryStorage {
    async fn create_link(&self, link: &NewSignIn, by: &Actor) -> Result<(), StorageError> {
        let mut state = self.state();
        if !state.accounts.contains_key(&link.account) {
            return Err(unknown_account(&link.account));
        }
        if state.sign_ins.contains_key(&link.digest) {
            return Err(StorageError::new(StorageErrorKind::AlreadyExists, "the link already exists"));
        }
        let now = link.created_at;
        state.sign_ins.retain(|_, sign_in| {
            let retention = if sign_in.account == link.account { Duration::ZERO } else { SIGN_IN_RETENTION };
            sign_in.expires_at.checked_add(retention).is_none_or(|end| end > now)
        });
        let sign_in =
            SignIn { account: link.account.clone(), is_session: false, created_at: now, expires_at: link.expires_at };
        state.sign_ins.insert(link.digest, sign_in);
        let is_removable = |event: &mut CredentialEvent| {
            event.account == link.account && event.credential_id.is_none() && is_past_retention(event.at, now)
        };
        let _ = state.events.extract_if(.., is_removable).take(MAX_REMOVED).count();
        state.events.push(CredentialEvent::new(link.account.clone(), CredentialAction::LinkMade, now, by));
        Ok(())
    }

    async fn exchange_link(
        &self,
        link: &TokenDigest,
        now: Timestamp,
        session: &NewSession,
    ) -> Result<Option<Account>, StorageError> {
        let mut state = self.state();
        let found = state.sign_ins.get(link).filter(|found| !found.is_session && found.expires_at > now);
        let Some(account) = found.map(|found| found.account.clone()) else { return Ok(None) };
        let NewSession { digest, created_at, expires_at } = *session;
        state.sign_ins.remove(link);
        state.sign_ins.insert(digest, SignIn { account: account.clone(), is_session: true, created_at, expires_at });
        state.limit_sessions(&account);
        state.events.push(CredentialEvent::new(account.clone(), CredentialAction::SignedIn, now, &Actor::OWNER));
        Ok(state.accounts.get(&account).map(|known| known.account.clone()))
    }

    async fn find_session(&self, digest: &TokenDigest) -> Result<Option<Session>, StorageError> {
        let state = self.state();
        let Some(session) = state.sign_ins.get(digest).filter(|found| found.is_session) else { return Ok(None) };
        let account = state.accounts.get(&session.account).map(|known| known.account.clone());
        Ok(account.map(|account| Session { account, expires_at: session.expires_at }))
    }

    async fn end_session(&self, digest: &TokenDigest) -> Result<(), StorageError> {
        let mut state = self.state();
        if !state.sign_ins.get(digest).is_some_and(|found| found.is_session) {
            return Ok(());
        }
        let account = state.sign_ins.remove(digest).expect("found above").account;
        let event = CredentialEvent::new(account, CredentialAction::SignedOut, Timestamp::now(), &Actor::OWNER);
        state.events.push(event);
        Ok(())
    }

    async fn end_sign_ins(&self, account: &AccountId, by: &Actor) -> Result<u64, StorageError> {
        let mut state = self.state();
        let before = state.sign_ins.len();
        state.sign_ins.retain(|_, sign_in| sign_in.account != *account);
        let ended = before - state.sign_ins.len();
        if ended > 0 {
            let event = CredentialEvent::new(account.clone(), CredentialAction::SignedOut, Timestamp::now(), by);
            state.events.push(event);
        }
        Ok(ended as u64)
    }
}
