//! Checks of an issuer, for `doctor` and `tokens check`.

use bytes::Bytes;
use catalogue_core::auth::signed::SignedTokens;
use catalogue_core::auth::{Authenticator as _, BearerToken};
use time::format_description::well_known::Rfc2822;
use time::{Duration, OffsetDateTime};
use tracing::subscriber::{NoSubscriber, set_default};

use super::{IssuerOptions, IssuerTokens};
use crate::exit::{Failure, chain};
use crate::report::Report;

const CHECK: &str = "issuer";

/// Maximum clock offset without a warning; synchronized clocks differ by less.
const MAX_OFFSET: Duration = Duration::seconds(5);
/// Maximum clock offset that verification tolerates: tokens may begin this far in the future.
const LEEWAY: Duration = Duration::seconds(30);

/// Checks an issuer whose tokens are accepted by the API at `base_url`.
pub(crate) async fn check(options: &IssuerOptions, base_url: &str, report: &mut Report) {
    match fetch(options).await {
        Err(failure) => report.error(CHECK, failure.message()),
        Ok((_, Err(why))) => report.error(CHECK, why),
        Ok((tokens, Ok(date))) => {
            report.ok(CHECK, format!("{} has {} usable keys", options.issuer, tokens.keys().usable));
            tokens.skipped_keys().iter().for_each(|key| report.warning(CHECK, format!("skipped a key: {key}")));
            if let Some(theirs) = date.and_then(|date| OffsetDateTime::parse(&date, &Rfc2822).ok()) {
                compare(OffsetDateTime::now_utc(), theirs, report);
            }
        }
    }
    if let Ok(IssuerTokens { opaque: Some(opaque), .. }) = options.tokens() {
        match opaque.authenticate(BearerToken::new("doctor-asks").expect("a valid bearer token")).await {
            Ok(_) => report.ok(CHECK, "introspection of opaque tokens works"),
            Err(error) => report.error(CHECK, chain(&error)),
        }
    }
    if options.audience != base_url && !base_url.starts_with('/') {
        report.warning(CHECK, format!("tokens have audience {:?}, but the base URL is {base_url}", options.audience));
    }
}

/// Fetches the issuer's keys. Returns an authenticator with them, and the response's `Date` or the reason for missing keys.
pub(crate) async fn fetch(options: &IssuerOptions) -> Result<(SignedTokens, Result<Option<String>, String>), Failure> {
    let fetched = options.source()?.fetch_dated().await;
    let (set, date) = fetched.map_or_else(|why| (Bytes::new(), Err(chain(&why))), |keys| (keys.set, Ok(keys.date)));
    let tokens = options.tokens_by(set)?;
    // A refresh would log failures, as for servers; here the caller reports them.
    let quiet = set_default(NoSubscriber::default());
    tokens.refresh().await;
    drop(quiet);
    let date = date.and_then(|date| tokens.last_failure().map_or(Ok(date), Err));
    Ok((tokens, date))
}

fn compare(ours: OffsetDateTime, theirs: OffsetDateTime, report: &mut Report) {
    let offset = (ours - theirs).abs();
    let text = format!("the issuer's clock differs by {} s", offset.whole_seconds());
    if offset > LEEWAY {
        report.error(CHECK, format!("{text}: new tokens are refused or expired ones accepted; run timedatectl"));
    } else if offset > MAX_OFFSET {
        report.warning(CHECK, format!("{text}; synchronize both clocks"));
    } else {
        report.ok(CHECK, "the issuer's clock agrees with this one");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Verdict;

    #[test]
    fn small_clock_difference_to_issuer_is_accepted() {
        let mut report = Report::default();
        let theirs = OffsetDateTime::parse("Sun, 06 Nov 1994 08:49:37 GMT", &Rfc2822).unwrap();
        for seconds in [0, 5, -6, 30, 31, -31] {
            compare(theirs + Duration::seconds(seconds), theirs, &mut report);
        }
        let (fine, warning, error) = (Verdict::Ok, Verdict::Warning, Verdict::Error);
        assert_eq!(report.verdicts(), [fine, fine, warning, warning, error, error]);
    }
}
