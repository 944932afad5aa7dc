//! Uses of credentials that several servers record at the same time.

use catalogue_core::Timestamp;
use catalogue_core::admin::{AdminStorage, CredentialUse};
use catalogue_core::storage::KeyStorage;

use crate::schema::Schema;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_uses_keep_latest_time() {
    let Some((schema, storage, account)) = Schema::with_course().await else { return };
    let many = "INSERT INTO credentials (digest, account_id, id, kind, scopes, created_at) \
                SELECT sha256(CAST(CAST(n AS TEXT) AS BYTEA)), 'acc', 'key_' || n, 'api-key', '', n \
                FROM generate_series(1, 300) AS n";
    schema.host().await.batch_execute(many).await.unwrap();
    let use_of = |key: usize, at: i64| CredentialUse {
        account: account.clone(),
        credential_id: format!("key_{key}").into(),
        at: Timestamp::from_microseconds(at).unwrap(),
    };
    for round in 1..=5 {
        let forth: Vec<_> = (1..=300).map(|key| use_of(key, round)).collect();
        let back: Vec<_> = (1..=300).rev().map(|key| use_of(key, round + 100)).collect();
        let (one, other) = tokio::join!(storage.record_uses(&forth), storage.record_uses(&back));
        one.and(other).unwrap();
    }
    let listed = storage.list_keys(&account, Timestamp::MAX, usize::MAX).await.unwrap().unwrap();
    assert!(listed.iter().all(|record| record.last_used_at.unwrap().as_microseconds() == 105));
    assert_eq!(listed.len(), 300);
}
