//! Exports the storage's accounts and courses in the import format.

use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;

use catalogue_core::admin::{Accounts, AdminStorage, Record};
use catalogue_core::storage::StorageError;
use thiserror::Error;

use crate::line::Line;

/// Why an export failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The target cannot be written.
    #[error("cannot write the export: {0}")]
    Target(#[source] io::Error),
    /// The storage has failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Writes the content of `accounts` in `storage` to `target`. Equal content results in equal bytes.
///
/// # Errors
/// Returns an error if the storage fails or the target cannot be written. The output may then be incomplete.
pub async fn export(
    storage: &dyn AdminStorage,
    accounts: Accounts<'_>,
    target: impl Write + Send,
) -> Result<(), ExportError> {
    let mut target = BufWriter::with_capacity(1 << 16, target);
    let mut written = Ok(());
    let exported = storage
        .export(accounts, &mut |record| {
            written = write_line(&mut target, record);
            if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })
        .await;
    written.map_err(ExportError::Target)?;
    exported?;
    target.flush().map_err(ExportError::Target)
}

fn write_line(target: &mut impl Write, record: Record) -> io::Result<()> {
    serde_json::to_writer(&mut *target, &Line::from(record))?;
    target.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use catalogue_core::storage::MemoryStorage;

    use super::*;
    use crate::import::{Options, import_text};

    /// An export: every field in order, times with 0, 3 or 6 decimals, and texts that are escaped only if JSON requires it.
    const EXACT: &str = concat!(
        r#"{"type":"account","id":"B","name":"","email":""}"#,
        "\n",
        r#"{"type":"account","id":"a","name":"Ä \"quoted\"","email":"a@example.org"}"#,
        "\n",
        r#"{"type":"course","account":"a","slug":"Z","title":"🤗","tagline":"","language":"ja","#,
        r#""createdAt":"2023-01-02T03:04:05Z","publishedAt":null,"hidden":false,"accessMode":null,"modules":[]}"#,
        "\n",
        r#"{"type":"course","account":"a","slug":"é","title":"t","tagline":"g","language":"en","#,
        r#""createdAt":"2023-01-02T03:04:05.120Z","publishedAt":"2023-01-02T03:04:05.000001Z","hidden":true,"#,
        r#""accessMode":"free","modules":[{"title":"m","summary":"s","content":"line\nline"},"#,
        r#"{"title":"n","summary":"","content":""}]}"#,
        "\n",
    );

    #[tokio::test]
    async fn import_and_export_are_inverse() {
        let storage = MemoryStorage::new();
        import_text(&storage, EXACT, Options::default()).await.unwrap();
        let mut target = Vec::new();
        export(&storage, Accounts::All, &mut target).await.unwrap();
        assert_eq!(String::from_utf8(target).unwrap(), EXACT);
    }

    #[tokio::test]
    async fn closed_target_fails_with_broken_pipe() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let storage = MemoryStorage::new();
        import_text(&storage, EXACT, Options::default()).await.unwrap();
        let failed = export(&storage, Accounts::All, Closed).await;
        assert!(matches!(failed, Err(ExportError::Target(error)) if error.kind() == io::ErrorKind::BrokenPipe));
    }
}
