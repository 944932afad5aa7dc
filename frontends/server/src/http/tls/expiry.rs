//! [`ExpiryWatch`]: says that the certificate in use ends, while there is time, and that it has ended.

use time::{Duration, OffsetDateTime};

use super::{pair::shown, validity::Validity};

/// So long before its end the log warns of a certificate. `doctor` does a week earlier, and services that renew by
/// themselves have tried for weeks by then; it leaves the days of a working week to renew it by hand.
const SOON: Duration = Duration::days(7);

/// The warning comes again after that time.
const REPEAT: Duration = Duration::days(1);

/// What there is to say of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Notice {
    Soon,
    Expired,
}

/// What was said last, of which certificate, and when.
#[derive(Debug, Default)]
pub(super) struct ExpiryWatch(Option<(Validity, Notice, OffsetDateTime)>);

impl ExpiryWatch {
    /// Looks at the certificate in use, and logs what is to be said of it now.
    pub(super) fn look(&mut self, certificate: Validity, now: OffsetDateTime) {
        let expires = shown(certificate.not_after);
        match self.notice(certificate, now) {
            Some(Notice::Soon) => {
                let days_left = (certificate.not_after - now).whole_days();
                tracing::warn!(expires, days_left, "the certificate in use expires soon; renew it");
            }
            Some(Notice::Expired) => {
                tracing::error!(expires, "the certificate in use has expired, so clients refuse it; renew it");
            }
            None => {}
        }
    }

    /// The warning once a day, and the end once. Another certificate begins anew.
    fn notice(&mut self, certificate: Validity, now: OffsetDateTime) -> Option<Notice> {
        let notice = if now > certificate.not_after {
            Notice::Expired
        } else if certificate.is_due(SOON, now) {
            Notice::Soon
        } else {
            return None;
        };
        let was_said = self.0.is_some_and(|(of, said, at)| {
            of == certificate && said == notice && (said == Notice::Expired || now - at < REPEAT)
        });
        if was_said {
            return None;
        }
        self.0 = Some((certificate, notice, now));
        Some(notice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

    /// A certificate of ninety days that ends so long after `NOW`.
    fn ending(after: Duration) -> Validity {
        let not_after = NOW + after;
        Validity { version: 3, not_before: not_after - Duration::days(90), not_after, names_hosts: true }
    }

    /// The hours after `NOW` at which something is said, if somebody looks every minute.
    fn said(certificate: Validity, hours: i64) -> Vec<(i64, Notice)> {
        let mut watch = ExpiryWatch::default();
        let look = |minute: i64| watch.notice(certificate, NOW + Duration::minutes(minute)).map(|said| (minute, said));
        (0..=hours * 60).filter_map(look).map(|(minute, notice)| (minute / 60, notice)).collect()
    }

    #[test]
    fn a_certificate_is_warned_of_each_day_and_its_end_is_told_once() {
        let (soon, expired) = (Notice::Soon, Notice::Expired);
        assert_eq!(said(ending(Duration::days(8)), 24), []);
        assert_eq!(said(ending(Duration::days(8)), 80), [(24, soon), (48, soon), (72, soon)]);
        assert_eq!(said(ending(Duration::hours(30)), 100), [(0, soon), (24, soon), (30, expired)]);
    }

    #[test]
    fn a_renewed_certificate_begins_anew() {
        let mut watch = ExpiryWatch::default();
        let hour = Duration::hours(1);
        assert_eq!(watch.notice(ending(hour), NOW), Some(Notice::Soon));
        assert_eq!(watch.notice(ending(hour), NOW), None);
        assert_eq!(watch.notice(ending(2 * hour), NOW), Some(Notice::Soon));
        assert_eq!(watch.notice(ending(hour), NOW + 2 * hour), Some(Notice::Expired));
        assert_eq!(watch.notice(ending(Duration::days(80)), NOW + 2 * hour), None);
        assert_eq!(watch.notice(ending(hour), NOW + 3 * hour), None, "it was said of this one");
    }

    #[test]
    fn a_short_life_is_no_warning_by_itself() {
        let six_days = Validity { not_before: NOW, ..ending(Duration::days(6)) };
        assert!(!six_days.is_due(SOON, NOW + Duration::days(4)));
        assert!(six_days.is_due(SOON, NOW + Duration::days(5)));
    }
}
