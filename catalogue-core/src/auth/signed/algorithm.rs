//! [`SignatureAlgorithm`]: the five supported algorithms of signed tokens (decision O11).

/// Signature algorithm of a token. `none` and `HS256` are excluded: whoever can verify such a token can also forge one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SignatureAlgorithm {
    /// ECDSA over P-256 with SHA-256.
    Es256,
    /// ECDSA over P-384 with SHA-384.
    Es384,
    /// Ed25519.
    EdDsa,
    /// RSASSA-PSS with SHA-256.
    Ps256,
    /// RSASSA-PKCS1-v1_5 with SHA-256, the cheapest to check.
    Rs256,
}

impl SignatureAlgorithm {
    /// All algorithms.
    pub const ALL: &'static [Self] = &[Self::Es256, Self::Es384, Self::EdDsa, Self::Ps256, Self::Rs256];

    /// Returns the algorithm's name in tokens, key sets and configurations.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Es256 => "ES256",
            Self::Es384 => "ES384",
            Self::EdDsa => "EdDSA",
            Self::Ps256 => "PS256",
            Self::Rs256 => "RS256",
        }
    }

    /// Returns the algorithm named `name`. `Ed25519` is an alias of `EdDSA` (RFC 9864).
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let name = if name == "Ed25519" { "EdDSA" } else { name };
        Self::ALL.iter().copied().find(|algorithm| algorithm.name() == name)
    }
}
