//! [`Readers`]: where the request path reads.

use std::time::Duration;

use catalogue_core::StorageError;
use tokio::time::Instant;
use tokio_postgres::Row;

use crate::connection::{Sql, Values};
use crate::options::Options;
use crate::pool::Pool;

/// The servers that are read from.
pub(crate) struct Readers {
    primary: Pool,
    deadline: Duration,
}

impl Readers {
    pub(crate) fn new(options: &Options) -> Self {
        let primary = Pool::new(options.reading(), options.connections.get());
        Self { primary, deadline: options.deadline }
    }

    /// Runs a statement that reads, all within the deadline.
    pub(crate) async fn read(&self, sql: &Sql, values: Values<'_>) -> Result<Vec<Row>, StorageError> {
        self.primary.read(sql, values, Instant::now() + self.deadline).await
    }
}
