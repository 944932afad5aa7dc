//! [`Coding`]: the content codings that answers can be compressed with.

use std::io::{self, Write as _};

use flate2::Compression;
use flate2::write::GzEncoder;

/// So that an answer is small, and the first caller hardly waits for it.
const GZIP_LEVEL: u32 = 5;
#[cfg(feature = "brotli")]
const BROTLI_QUALITY: i32 = 4;
#[cfg(feature = "zstd")]
const ZSTD_LEVEL: i32 = 3;

/// A content coding (RFC 9110 section 8.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    /// RFC 7932.
    #[cfg(feature = "brotli")]
    Brotli,
    /// RFC 8878.
    #[cfg(feature = "zstd")]
    Zstd,
    /// RFC 1952.
    Gzip,
}

impl Coding {
    /// Those of this build, the one that makes answers smallest first.
    pub(crate) const ALL: &'static [Self] = &[
        #[cfg(feature = "brotli")]
        Self::Brotli,
        #[cfg(feature = "zstd")]
        Self::Zstd,
        Self::Gzip,
    ];

    /// The coding of that name, which is case-insensitive.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let is = |coding: &Self| name.eq_ignore_ascii_case(coding.name());
        let alias = || name.eq_ignore_ascii_case("x-gzip").then_some(Self::Gzip);
        Self::ALL.iter().find(|coding| is(coding)).copied().or_else(alias)
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            #[cfg(feature = "brotli")]
            Self::Brotli => "br",
            #[cfg(feature = "zstd")]
            Self::Zstd => "zstd",
            Self::Gzip => "gzip",
        }
    }

    /// `bytes` in this coding.
    pub(crate) fn compress(self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        match self {
            #[cfg(feature = "brotli")]
            Self::Brotli => {
                let mut parameters = brotli::enc::BrotliEncoderParams::default();
                (parameters.quality, parameters.size_hint) = (BROTLI_QUALITY, bytes.len());
                let mut compressed = Vec::with_capacity(bytes.len() / 4);
                brotli::BrotliCompress(&mut &*bytes, &mut compressed, &parameters)?;
                Ok(compressed)
            }
            #[cfg(feature = "zstd")]
            Self::Zstd => zstd::bulk::compress(bytes, ZSTD_LEVEL),
            Self::Gzip => {
                let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), Compression::new(GZIP_LEVEL));
                encoder.write_all(bytes)?;
                encoder.finish()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_whatever_their_case() {
        for coding in Coding::ALL {
            assert_eq!(Coding::named(coding.name()), Some(*coding));
            assert_eq!(Coding::named(&coding.name().to_ascii_uppercase()), Some(*coding));
        }
        assert_eq!(Coding::named("x-gzip"), Some(Coding::Gzip));
        for other in ["", "gzipped", "deflate", "compress", "identity", "*", "brotli"] {
            assert_eq!(Coding::named(other), None, "{other}");
        }
        assert!(Coding::ALL.iter().enumerate().all(|(place, coding)| *coding as usize == place));
    }
}
