//! Metrics of an issuer: received tokens by outcome, and the status of its keys.

use catalogue_observers::prometheus::Exposition;

use crate::issuer::IssuerTokens;

pub(super) fn render(IssuerTokens { signed, opaque, .. }: &IssuerTokens, out: &mut Exposition) {
    let mut counts = out.metric("catalogue_signed_tokens_total", "Received signed tokens, by outcome.");
    for (outcome, count) in signed.outcomes() {
        counts.value(&[("outcome", outcome)], count);
    }
    if let Some(opaque) = opaque {
        let mut counts = out.metric("catalogue_introspected_tokens_total", "Received opaque tokens, by outcome.");
        opaque.outcomes().for_each(|(outcome, count)| counts.value(&[("outcome", outcome)], count));
    }
    let keys = signed.keys();
    let mut fetches = out.metric("catalogue_issuer_fetches_total", "Fetches of the issuer's keys, by outcome.");
    fetches.value(&[("outcome", "success")], keys.fetched);
    fetches.value(&[("outcome", "failure")], keys.failed);
    out.single("catalogue_issuer_keys", "Usable keys of the issuer.", keys.usable);
    if let Some(age) = keys.age {
        let help = "Age of the issuer's keys, which expire after a day.";
        out.single("catalogue_issuer_keys_age_seconds", help, age.as_secs_f64());
    }
}
