//! Clients that ask and never take an answer.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use h2::client::Builder;

use crate::good::Client;

/// How many connect at the same time.
const AT_ONCE: u32 = 16;
/// How many streams each of them opens.
const STREAMS: u32 = 100;
/// The largest page that there is.
const LIMIT: usize = 100;

/// What has become of their connections and streams.
#[derive(Default)]
pub(crate) struct Counts {
    /// Connections that have sent their requests, or were ended before.
    pub(crate) asked: AtomicU32,
    pub(crate) ended: AtomicU32,
    /// Streams that got the head of an answer, and those that got none.
    pub(crate) answered: AtomicU32,
    pub(crate) refused: AtomicU32,
}

/// Opens the connections, a few at a time, and holds them as long as the program runs.
pub(crate) fn ask_and_hold(connections: u32, client: &Client, counts: &Arc<Counts>) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    for first in 0..AT_ONCE {
        let (client, counts) = (client.clone(), Arc::clone(counts));
        runtime.spawn(async move {
            for _ in (first..connections).step_by(AT_ONCE as usize) {
                if open(&client, &counts).await.is_err() {
                    counts.ended.fetch_add(1, Relaxed);
                }
                counts.asked.fetch_add(1, Relaxed);
            }
        });
    }
    runtime.block_on(std::future::pending::<()>());
}

async fn open(client: &Client, counts: &Arc<Counts>) -> Result<(), Box<dyn Error + Send + Sync>> {
    let (sender, driver) = client.connect(Builder::new().initial_window_size(0)).await?;
    let mut responses = Vec::new();
    for _ in 0..STREAMS {
        responses.push(client.ask(sender.clone(), LIMIT).await?);
    }
    let counts = Arc::clone(counts);
    tokio::spawn(async move {
        // Those that are dropped would be given up.
        let mut held = Vec::new();
        for response in responses {
            held.push(response.await);
            let count = if held.last().is_some_and(Result::is_ok) { &counts.answered } else { &counts.refused };
            count.fetch_add(1, Relaxed);
        }
        let _ = driver.await;
        counts.ended.fetch_add(1, Relaxed);
        drop((held, sender));
    });
    Ok(())
}
