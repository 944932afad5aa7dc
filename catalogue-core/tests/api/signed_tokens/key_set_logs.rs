//! Log lines about an issuer's keys: each change once.

use std::slice;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use catalogue_core::async_trait;
use catalogue_core::auth::signed::{FetchKeys, SignedTokens};
use catalogue_core::storage::{StorageError, StorageErrorKind};
use serde_json::{Value, json};

use super::issuer::{AUDIENCE, ISSUER, Issuer};
use crate::log::logs;

/// An issuer whose response a test sets; without a response, the issuer is unavailable.
#[derive(Clone, Debug, Default)]
struct Source(Arc<Mutex<Option<Bytes>>>);

#[async_trait]
impl FetchKeys for Source {
    async fn fetch(&self) -> Result<Bytes, StorageError> {
        self.0.lock().unwrap().clone().ok_or_else(|| StorageError::new(StorageErrorKind::Unavailable, "unreachable"))
    }
}

#[test]
fn each_key_change_is_logged_once() {
    let jwk = serde_json::from_slice::<Value>(&Issuer::new().set).unwrap()["keys"][0].take();
    let key = |more: Value| {
        let mut jwk = jwk.clone();
        jwk.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        jwk
    };
    let set = |keys: &[Value]| Some(Bytes::from(json!({ "keys": keys }).to_string()));
    let (one, other, encrypts) =
        (key(json!({})), key(json!({ "kid": "other" })), key(json!({ "kid": "e", "use": "enc" })));
    let private = key(json!({ "kid": "private", "d": "secret" }));
    let source = Source::default();
    let tokens = SignedTokens::builder(ISSUER, AUDIENCE, source.clone()).build().unwrap();
    for (response, logged) in [
        (None, &[r#"WARN error="unreachable" has_keys=false"#][..]),
        (None, &[]),
        (set(slice::from_ref(&one)), &["INFO", r#"INFO usable=1 added=["k"] removed=[]"#]),
        (set(slice::from_ref(&one)), &[]),
        (set(&[one.clone(), private.clone(), encrypts.clone()]), &[r#"WARN kid=Some("private")"#]),
        (set(&[private, one.clone(), encrypts]), &[]),
        (None, &[r#"WARN error="unreachable" has_keys=true"#]),
        (None, &[]),
        (set(&[one, other.clone()]), &["INFO", r#"INFO usable=2 added=["other"] removed=[]"#]),
        (set(&[other]), &[r#"INFO usable=1 added=[] removed=["k"]"#]),
    ] {
        *source.0.lock().unwrap() = response;
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let lines = logs(|| {
            runtime.block_on(tokens.refresh());
        });
        let fields = lines.iter().map(|line| {
            let (logged, fields) = line.split_once(&format!(" issuer={ISSUER:?}")).expect("the issuer of the keys");
            logged.split(' ').next().unwrap().to_owned() + fields
        });
        assert_eq!(fields.collect::<Vec<_>>(), logged);
    }
}
