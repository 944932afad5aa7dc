//! Outcomes of an issuer's tokens, and the status of its keys.

use catalogue_observers::prometheus::Exposition;

use crate::issuer::IssuerTokens;

pub(super) fn render(IssuerTokens { signed, opaque, .. }: &IssuerTokens, out: &mut Exposition) {
    let mut counts = out.metric("catalogue_signed_tokens_total", "Signed tokens that came, by what became of them.");
    for (outcome, count) in signed.outcomes() {
        counts.value(&[("outcome", outcome)], count);
    }
    if let Some(opaque) = opaque {
        let help = "Opaque tokens that the issuer was to be asked about, by what became of them.";
        let mut counts = out.metric("catalogue_introspected_tokens_total", help);
        opaque.outcomes().for_each(|(outcome, count)| counts.value(&[("outcome", outcome)], count));
    }
    let keys = signed.keys();
    let mut fetches = out.metric("catalogue_issuer_fetches_total", "Fetches of the issuer's keys, by outcome.");
    fetches.value(&[("outcome", "success")], keys.fetched);
    fetches.value(&[("outcome", "failure")], keys.failed);
    out.single("catalogue_issuer_keys", "Keys of the issuer that can be used.", keys.usable);
    if let Some(age) = keys.age {
        let help = "How long ago the issuer's keys were fetched; after a day they are not used.";
        out.single("catalogue_issuer_keys_age_seconds", help, age.as_secs_f64());
    }
}
