//! [`digest`]: what ties a password's proof to the certificate of the server that it is given to (RFC 5929, section 4).

use sha2::{Digest as _, Sha256, Sha384, Sha512};

const SEQUENCE: u8 = 0x30;
const OBJECT_IDENTIFIER: u8 = 0x06;

/// 1.2.840.113549.1.1, the signatures by RSA.
const RSA: [u8; 8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01];
/// 1.2.840.10045.4, those by ECDSA.
const ECDSA: [u8; 6] = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04];

/// The digest of a certificate by the hash of its own signature, or by SHA-256 where that is an older one; `None` where the
/// signature says no hash, and there is nothing to tie to.
pub(crate) fn digest(certificate: &[u8]) -> Option<Vec<u8>> {
    let signature = signature_algorithm(certificate)?;
    let hash: fn(&[u8]) -> Vec<u8> = match (signature.strip_prefix(&RSA), signature.strip_prefix(&ECDSA)) {
        // MD5, SHA-1 and SHA-256.
        (Some([4 | 5 | 11]), _) | (_, Some([1] | [3, 2])) => |bytes| Sha256::digest(bytes).to_vec(),
        (Some([12]), _) | (_, Some([3, 3])) => |bytes| Sha384::digest(bytes).to_vec(),
        (Some([13]), _) | (_, Some([3, 4])) => |bytes| Sha512::digest(bytes).to_vec(),
        _ => return None,
    };
    Some(hash(certificate))
}

/// The object identifier of a certificate's signature (RFC 5280, section 4.1): it stands behind what is signed.
fn signature_algorithm(certificate: &[u8]) -> Option<&[u8]> {
    let (certificate, _) = value(certificate, SEQUENCE)?;
    let (_, behind) = value(certificate, SEQUENCE)?;
    let (algorithm, _) = value(behind, SEQUENCE)?;
    let (identifier, _) = value(algorithm, OBJECT_IDENTIFIER)?;
    Some(identifier)
}

/// The value of that tag at the beginning of a text in DER, and what follows it.
fn value(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&found, rest) = der.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match first.checked_sub(0x80) {
        None => (usize::from(first), rest),
        // The length itself has that many bytes.
        Some(bytes @ 1..=4) => {
            let (bytes, rest) = rest.split_at_checked(usize::from(bytes))?;
            (bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
        }
        _ => return None,
    };
    (found == tag).then(|| rest.split_at_checked(length)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A certificate with that signature, whose signed part has that many bytes.
    fn certificate(signature: &[u8], signed: usize) -> Vec<u8> {
        let wrap = |tag: u8, value: &[u8]| {
            let length = value.len() as u32;
            let head = if length < 0x80 {
                vec![tag, length as u8]
            } else {
                vec![tag, 0x82, (length >> 8) as u8, length as u8]
            };
            [head, value.to_vec()].concat()
        };
        let algorithm = wrap(SEQUENCE, &wrap(OBJECT_IDENTIFIER, signature));
        wrap(SEQUENCE, &[wrap(SEQUENCE, &vec![7; signed]), algorithm, wrap(0x03, &[0, 1])].concat())
    }

    #[test]
    fn the_hash_is_that_of_the_signature() {
        for (algorithm, length) in [(vec![5], 32), (vec![11], 32), (vec![12], 48), (vec![13], 64)] {
            let certificate = certificate(&[RSA.as_slice(), &algorithm].concat(), 1000);
            assert_eq!(digest(&certificate).map(|digest| digest.len()), Some(length));
        }
        let by_ecdsa = certificate(&[ECDSA.as_slice(), &[3, 2]].concat(), 10);
        assert_eq!(digest(&by_ecdsa), Some(Sha256::digest(&by_ecdsa).to_vec()));
    }

    #[test]
    fn what_says_no_hash_or_is_no_certificate_has_none() {
        let ed25519 = certificate(&[0x2b, 0x65, 0x70], 10);
        assert_eq!(digest(&ed25519), None);
        let whole = certificate(&[ECDSA.as_slice(), &[3, 2]].concat(), 10);
        for end in 0..20 {
            assert_eq!(digest(&whole[..end]), None);
        }
        assert_eq!(digest(&[SEQUENCE, 0x84, 0xff, 0xff, 0xff, 0xff, 0]), None);
    }
}
