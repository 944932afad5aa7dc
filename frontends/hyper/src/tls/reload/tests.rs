//! Times at which the log reports that a certificate expires.

use rustls::pki_types::CertificateDer;

use super::*;

impl Tls {
    /// Returns the certificate for the next handshake.
    pub(crate) fn in_use(&self) -> CertificateDer<'static> {
        self.current.0.borrow().certified_key.cert[0].clone()
    }
}

const NOW: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

/// Returns the validity of a 90-day certificate whose end is `after` from [`NOW`].
fn ending(after: Duration) -> Validity {
    let not_after = NOW + after;
    Validity { not_before: not_after - Duration::days(90), not_after }
}

/// Returns the notices that are due within `hours` of [`NOW`], and their hours, if the certificate is checked every minute.
fn notices(certificate: Validity, hours: i64) -> Vec<(i64, Notice)> {
    let mut watch = ExpiryWatch::default();
    let check = |minute: i64| watch.notice(certificate, NOW + Duration::minutes(minute)).map(|notice| (minute, notice));
    (0..=hours * 60).filter_map(check).map(|(minute, notice)| (minute / 60, notice)).collect()
}

#[test]
fn expiry_is_warned_daily_and_logged_once() {
    let (soon, expired) = (Notice::Soon, Notice::Expired);
    assert_eq!(notices(ending(Duration::days(8)), 24), []);
    assert_eq!(notices(ending(Duration::days(8)), 80), [(24, soon), (48, soon), (72, soon)]);
    assert_eq!(notices(ending(Duration::hours(30)), 100), [(0, soon), (24, soon), (30, expired)]);
}

#[test]
fn renewed_certificate_restarts_warnings() {
    let mut watch = ExpiryWatch::default();
    let hour = Duration::hours(1);
    assert_eq!(watch.notice(ending(hour), NOW), Some(Notice::Soon));
    assert_eq!(watch.notice(ending(hour), NOW), None);
    assert_eq!(watch.notice(ending(2 * hour), NOW), Some(Notice::Soon));
    assert_eq!(watch.notice(ending(hour), NOW + 2 * hour), Some(Notice::Expired));
    assert_eq!(watch.notice(ending(Duration::days(80)), NOW + 2 * hour), None);
    assert_eq!(watch.notice(ending(hour), NOW + 3 * hour), None, "already logged for this certificate");
}

#[test]
fn short_lifetime_causes_no_early_warning() {
    let six_days = Validity { not_before: NOW, ..ending(Duration::days(6)) };
    assert!(!six_days.is_renewal_due(EXPIRY_WARNING, NOW + Duration::days(4)));
    assert!(six_days.is_renewal_due(EXPIRY_WARNING, NOW + Duration::days(5)));
}
