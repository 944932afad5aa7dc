//! Reading a short file, or a pipe as `<(command)` makes one, with bounds on its length and its time.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;
#[cfg(unix)]
use std::{thread, time::Duration};

use catalogue_core::Utf8Reader;

/// Many times what a chain of certificates takes up, and soon read.
const MOST_BYTES: u64 = 1024 * 1024;

/// How long a pipe may take to end: who writes to it was started along with this program.
#[cfg(unix)]
const PIPE_TIMEOUT: Duration = Duration::from_secs(10);

/// Reads a certificate, a key or another short secret from a file or from a pipe. Text is returned as UTF-8, as
/// [`Utf8Reader`] decodes it.
///
/// # Errors
///
/// It cannot be read, is a device, is longer than a mebibyte, or is a pipe that does not end within 10 s.
pub fn read_short_file(path: &Path) -> io::Result<Vec<u8>> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;

        let kind = path.metadata()?.file_type();
        if kind.is_char_device() {
            return Err(io::Error::new(ErrorKind::InvalidInput, "it is a device; name a file"));
        }
        if kind.is_fifo() {
            return text(&read_pipe(path, PIPE_TIMEOUT)?);
        }
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    text(&bytes)
}

fn text(bytes: &[u8]) -> io::Result<Vec<u8>> {
    if bytes.len() as u64 > MOST_BYTES {
        let why = "it is longer than a mebibyte, so it is not what is asked for; name another file";
        return Err(io::Error::new(ErrorKind::FileTooLarge, why));
    }
    let mut text = Vec::with_capacity(bytes.len());
    Utf8Reader::new(bytes).read_to_end(&mut text)?;
    Ok(text)
}

/// Reads a pipe to its end. Without a time limit, opening or reading one that nobody writes to would last for ever.
#[cfg(unix)]
fn read_pipe(path: &Path, limit: Duration) -> io::Result<Vec<u8>> {
    use tokio::io::AsyncReadExt;

    let read_to_end = async {
        let pipe = tokio::net::unix::pipe::OpenOptions::new().open_receiver(path)?;
        // Before its first writer has come, a named pipe reads as if it were at its end.
        pipe.readable().await?;
        let mut bytes = Vec::new();
        pipe.take(MOST_BYTES + 1).read_to_end(&mut bytes).await?;
        Ok(bytes)
    };
    let read = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async { tokio::time::timeout(limit, read_to_end).await }).unwrap_or_else(|_| {
            let text = "it is a pipe, and its end did not come in time; let something write to it, and end";
            Err(io::Error::new(ErrorKind::TimedOut, text))
        })
    };
    // The caller's thread may have a runtime of its own, in which no other can be run.
    thread::scope(|scope| scope.spawn(read).join()).expect("reading does not panic")
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
