//! Signed tokens: cached, verified for the first time, and refused; for comparison, only the verification of a signature.

use std::hint::black_box;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use catalogue_benches::{Issuer, block_on};
use catalogue_core::AccountId;
use catalogue_core::auth::signed::SignedTokens;
use catalogue_core::auth::{Authenticator as _, BearerToken, Verdict};
use criterion::Criterion;

/// Number of tokens: more than the cache holds, so that each is verified as if it were new.
const TOKENS: usize = 4_000;
const CACHE_CAPACITY: usize = 40;

pub(crate) fn signed(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("signed");
    let account = AccountId::new("acc_1");
    let issuer = Issuer::new();
    let tokens = SignedTokens::builder(Issuer::NAME, Issuer::AUDIENCE, bytes::Bytes::from(issuer.key_set()));
    let tokens = tokens.account_claim("account").token_cache_capacity(CACHE_CAPACITY).build().expect("valid settings");
    block_on(tokens.refresh());
    let verdict = |text: &str| block_on(tokens.authenticate(BearerToken::new(text).expect("a token")));
    let one = issuer.token(&account, 0);
    assert!(matches!(verdict(&one), Ok(Verdict::Accepted(_))));
    group.bench_function("cached", |bencher| bencher.iter(|| verdict(black_box(&one))));
    let many: Vec<_> = (0..TOKENS).map(|number| issuer.token(&account, number)).collect();
    let mut next = many.iter().cycle();
    group.bench_function("first verification", |bencher| {
        bencher.iter(|| verdict(next.next().expect("an endless cycle of tokens")));
    });
    let [forged, unknown] = [issuer.forged(&account), issuer.token_of_another_key(&account)];
    for (name, text) in [("rejected, known kid", &forged), ("rejected, unknown kid", &unknown)] {
        assert!(matches!(verdict(text), Ok(Verdict::Refused(_, Some(_)))));
        group.bench_function(name, |bencher| bencher.iter(|| verdict(black_box(text))));
    }
    let (signed, signature) = one.rsplit_once('.').expect("a token");
    let (key, signature) = (issuer.public_key(), URL_SAFE_NO_PAD.decode(signature).expect("base64url"));
    group.bench_function("signature verification", |bencher| {
        bencher.iter(|| key.verify_sig(black_box(signed.as_bytes()), &signature).expect("a valid signature"));
    });
    group.finish();
}
