//! [`Input`]: what is imported.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::exit::Failure;

/// What is imported, and what messages call it.
pub(crate) struct Input {
    pub(crate) name: String,
    pub(super) source: Source,
}

/// Where the lines come from.
pub(super) enum Source {
    /// Can be read twice.
    File(File),
    /// Can be read once.
    Stream(Box<dyn Read + Send>),
}

impl Input {
    /// The file at a path, or standard input for `-`.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        if path == Path::new("-") {
            return Ok(Self { name: "standard input".to_owned(), source: Source::Stream(Box::new(io::stdin())) });
        }
        let name = path.display().to_string();
        const RIGHT: &str = "name a file of JSON Lines, or - for standard input";
        let cannot = |error: io::Error| Failure::work(format!("{name}: cannot be read: {error}; {RIGHT}"));
        let file = File::open(path).map_err(cannot)?;
        let metadata = file.metadata().map_err(cannot)?;
        if metadata.is_dir() {
            return Err(Failure::work(format!("{name}: is a directory; {RIGHT}")));
        }
        let source = if metadata.is_file() { Source::File(file) } else { Source::Stream(Box::new(file)) };
        Ok(Self { name, source })
    }

    /// How many bytes it has, where that can be known.
    pub(crate) fn length(&self) -> Option<u64> {
        match &self.source {
            Source::File(file) => file.metadata().ok().map(|metadata| metadata.len()),
            Source::Stream(_) => None,
        }
    }

    /// A text that can be read once.
    #[cfg(test)]
    pub(crate) fn of_text(name: &str, text: &str) -> Self {
        let text = io::Cursor::new(text.to_owned());
        Self { name: name.to_owned(), source: Source::Stream(Box::new(text)) }
    }
}
