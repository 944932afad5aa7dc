//! [`Sessions`]: who is logged in, as a service of its own that is asked over a channel.

use std::collections::HashMap;

use catalogue_core::{
    AccountId, Authenticator, BearerToken, CredentialKind, Identity, NewToken, Refusal, Scopes, StorageError,
    StorageErrorKind, Timestamp, TokenDigest, Verdict, async_trait,
};
use tokio::sync::{mpsc, oneshot};

/// A call to the service, with the way back for its answer.
#[derive(Debug)]
enum Call {
    Begin(AccountId, oneshot::Sender<NewToken>),
    LookUp(TokenDigest, oneshot::Sender<Option<Session>>),
    End(TokenDigest),
}

#[derive(Clone, Debug)]
struct Session {
    account: AccountId,
    ended_at: Option<Timestamp>,
}

/// A client of the service. In its place could stand one that asks over HTTP (RFC 7662). Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Sessions(mpsc::Sender<Call>);

impl Sessions {
    /// Starts the service; it ends with its last client.
    pub(crate) fn start() -> Self {
        let (sender, calls) = mpsc::channel(64);
        tokio::spawn(serve(calls));
        Self(sender)
    }

    /// Begins a session of `account`.
    pub(crate) async fn begin(&self, account: AccountId) -> Result<NewToken, StorageError> {
        let (sender, token) = oneshot::channel();
        self.call(Call::Begin(account, sender)).await?;
        token.await.map_err(out_of_reach)
    }

    /// Ends the session of that token, if there is one.
    pub(crate) async fn end(&self, token: BearerToken<'_>) -> Result<(), StorageError> {
        self.call(Call::End(token.digest())).await
    }

    async fn call(&self, call: Call) -> Result<(), StorageError> {
        self.0.send(call).await.map_err(out_of_reach)
    }
}

/// Nothing is remembered between two calls, so an end counts from the next request on. A service out of reach is an
/// error, answered 500, and never a refusal: nobody throws a good token away for it.
#[async_trait]
impl Authenticator for Sessions {
    async fn authenticate(&self, token: BearerToken<'_>) -> Result<Verdict, StorageError> {
        let digest = token.digest();
        let (sender, session) = oneshot::channel();
        self.call(Call::LookUp(digest, sender)).await?;
        let Some(session) = session.await.map_err(out_of_reach)? else {
            return Ok(Verdict::NotMine);
        };
        if session.ended_at.is_some() {
            return Ok(Verdict::Refused(Refusal::Revoked));
        }
        let scopes = Scopes::from_names(["read:profile", "read:courses"]);
        Ok(Verdict::Accepted(Identity::oauth(session.account, &digest, scopes)))
    }
}

fn out_of_reach(cause: impl std::error::Error + Send + Sync + 'static) -> StorageError {
    StorageError::new(StorageErrorKind::Unavailable, "the session service does not answer").with_source(cause)
}

async fn serve(mut calls: mpsc::Receiver<Call>) {
    let mut sessions = HashMap::new();
    while let Some(call) = calls.recv().await {
        match call {
            Call::Begin(account, answer) => {
                let token = NewToken::mint(CredentialKind::OAuth);
                sessions.insert(token.digest(), Session { account, ended_at: None });
                // Whoever has gone away meanwhile has a session that nobody knows the token of.
                let _ = answer.send(token);
            }
            Call::LookUp(digest, answer) => {
                let _ = answer.send(sessions.get(&digest).cloned());
            }
            Call::End(digest) => {
                if let Some(session) = sessions.get_mut(&digest) {
                    session.ended_at.get_or_insert_with(Timestamp::now);
                }
            }
        }
    }
}
