//! Certificates that are whole, truncated or altered.

use rcgen::{CertificateParams, KeyPair, SerialNumber};

use super::*;

fn certificate(not_before: OffsetDateTime, not_after: OffsetDateTime) -> Vec<u8> {
    let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
    (params.not_before, params.not_after) = (not_before, not_after);
    params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().to_vec()
}

fn at(seconds: i64) -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp(seconds).unwrap()
}

#[test]
fn both_date_formats_are_read() {
    // The years 1950, 1999, 2023 and 2049 are written with two digits, 2050 and 9999 with four.
    for (not_before, not_after) in [
        (-631_152_000, 946_684_799),
        (1_700_000_000, 2_524_607_999),
        (1_700_000_000, 2_524_608_000),
        (2_524_608_000, 253_402_300_799),
    ] {
        let (not_before, not_after) = (at(not_before), at(not_after));
        let validity = Validity { not_before, not_after };
        assert_eq!(version_and_validity(&certificate(not_before, not_after)), Ok((3, validity)));
    }
}

#[test]
fn too_long_serial_number_is_accepted() {
    let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
    params.serial_number = Some(SerialNumber::from_slice(&[0x7f; 40]));
    (params.not_before, params.not_after) = (at(0), at(1));
    let certificate = params.self_signed(&KeyPair::generate().unwrap()).unwrap();
    let read = Validity { not_before: at(0), not_after: at(1) };
    assert_eq!(version_and_validity(certificate.der()), Ok((3, read)));
}

#[test]
fn truncated_or_altered_certificate_causes_no_panic() {
    let whole = certificate(at(0), at(1));
    for end in 0..whole.len() {
        assert!(version_and_validity(&whole[..end]).is_err(), "{end}");
    }
    for index in 0..whole.len() {
        for byte in [0x00, 0x7f, 0x80, 0x84, 0x88, 0xff] {
            let mut altered = whole.clone();
            altered[index] = byte;
            let _ = version_and_validity(&altered);
        }
    }
}

#[test]
fn huge_length_is_refused() {
    assert!(version_and_validity(&[0x30, 0x89, 1, 0, 0, 0, 0, 0, 0, 0, 0]).is_err());
    assert!(version_and_validity(&[0x30, 0x88, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]).is_err());
}
