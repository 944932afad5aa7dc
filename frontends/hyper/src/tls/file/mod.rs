//! Reads short files, and pipes such as those of `<(command)`, with limits on the length and, for pipes, on the time.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;
#[cfg(unix)]
use std::{thread, time::Duration};

use catalogue_core::Utf8Reader;

/// Maximum length of a file: many times that of a certificate chain, and quick to read.
const MAX_BYTES: u64 = 1024 * 1024;

/// Timeout for a pipe, whose writer usually starts together with this program.
#[cfg(unix)]
const PIPE_TIMEOUT: Duration = Duration::from_secs(10);

/// Reads a short file or pipe, such as one with a certificate, a key or a secret. Text is returned as UTF-8, as
/// [`Utf8Reader`] decodes it.
///
/// # Errors
///
/// Returns an error if the file cannot be read, is a device, is longer than 1 MiB, or is a pipe that does not end within 10 s.
pub fn read_short_file(path: &Path) -> io::Result<Vec<u8>> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;

        let kind = path.metadata()?.file_type();
        if kind.is_char_device() {
            return Err(io::Error::new(ErrorKind::InvalidInput, "it is a device; use a file"));
        }
        if kind.is_fifo() {
            return text(&read_pipe(path, PIPE_TIMEOUT)?);
        }
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    text(&bytes)
}

fn text(bytes: &[u8]) -> io::Result<Vec<u8>> {
    if bytes.len() as u64 > MAX_BYTES {
        let why = "it is longer than 1 MiB; use another file";
        return Err(io::Error::new(ErrorKind::FileTooLarge, why));
    }
    let mut text = Vec::with_capacity(bytes.len());
    Utf8Reader::new(bytes).read_to_end(&mut text)?;
    Ok(text)
}

/// Reads a pipe to its end. Without a time limit, opening or reading one without a writer would block forever.
#[cfg(unix)]
fn read_pipe(path: &Path, limit: Duration) -> io::Result<Vec<u8>> {
    use tokio::io::AsyncReadExt;

    let read_to_end = async {
        let pipe = tokio::net::unix::pipe::OpenOptions::new().open_receiver(path)?;
        // Until it has had a writer, a named pipe reads as if it were at its end.
        pipe.readable().await?;
        let mut bytes = Vec::new();
        pipe.take(MAX_BYTES + 1).read_to_end(&mut bytes).await?;
        Ok(bytes)
    };
    let read = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async { tokio::time::timeout(limit, read_to_end).await }).unwrap_or_else(|_| {
            let text = "it is a pipe that was not written and closed in time; check its writer";
            Err(io::Error::new(ErrorKind::TimedOut, text))
        })
    };
    // On another thread: the calling thread may be inside a Tokio runtime, where `block_on` panics.
    thread::scope(|scope| scope.spawn(read).join()).expect("reading does not panic")
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
