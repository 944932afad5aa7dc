//! Measures rows in turn: the servers' processor time per request, from the kernel's accounting.

use std::error::Error;
use std::time::Duration;

use catalogue_benches::{Data, cpu_of_process};

use crate::Options;
use crate::client::{Bounds, Client};
use crate::rows::{Row, Target, is_under_commits};
use crate::writer::under_commits;

/// Maximum duration of one measurement.
const MAX_DURATION: Duration = Duration::from_secs(4);
/// Minimum number of requests before a measurement.
const WARM_UP: u64 = 500;

/// A row and its samples, one per round.
pub(crate) type MeasuredRow<'r> = (&'r Row, Vec<Sample>);

/// One measurement of a row: µs of processor time per request.
pub(crate) struct Sample {
    pub(crate) measured: f64,
    pub(crate) baseline: f64,
    /// Time of the database's processes for `measured`, if there are any.
    pub(crate) database: Option<f64>,
    /// Commits per second during the measurement, if there are any.
    pub(crate) commits: Option<f64>,
}

/// Measures every row once per round: both targets, in alternating order.
pub(crate) fn all<'r>(rows: &'r [Row], data: &Data, options: &Options) -> Result<Vec<MeasuredRow<'r>>, Box<dyn Error>> {
    let mut results: Vec<MeasuredRow<'_>> = rows.iter().map(|row| (row, Vec::new())).collect();
    for round in 0..options.rounds {
        for (row, samples) in &mut results {
            let sample = once(row, data, options, round % 2 == 1);
            samples.push(sample.map_err(|error| format!("{}: {error}", row.name))?);
        }
    }
    Ok(results)
}

fn once(row: &Row, data: &Data, options: &Options, baseline_first: bool) -> Result<Sample, Box<dyn Error>> {
    let bounds = match is_under_commits(row.name) {
        // Long enough for many commits.
        true => Bounds { requests: u64::MAX, time: Duration::from_millis(if options.quick { 300 } else { 1_500 }) },
        false => Bounds { requests: options.requests, time: MAX_DURATION },
    };
    let order = if baseline_first { [&row.baseline, &row.measured] } else { [&row.measured, &row.baseline] };
    let both = || order.map(|target| cost(target, data, bounds));
    let ([first, second], commits) = match is_under_commits(row.name) {
        true => under_commits(data, both).map(|(costs, commits)| (costs, Some(commits)))?,
        false => (both(), None),
    };
    let (first, second) = (first?, second?);
    let ((mut measured, database), (mut baseline, baseline_database)) =
        if baseline_first { (second, first) } else { (first, second) };
    if row.with_database {
        measured += database.unwrap_or_default();
        baseline += baseline_database.unwrap_or_default();
    }
    Ok(Sample { measured, baseline, database, commits })
}

/// Returns the processor time per request of the server and of the database, in µs.
fn cost(target: &Target, data: &Data, bounds: Bounds) -> Result<(f64, Option<f64>), Box<dyn Error>> {
    let used = || cpu_of_process(target.process);
    let mut client = Client::connect(target.address)?;
    let warm_up = Bounds { requests: WARM_UP.max(target.requests.len() as u64), time: MAX_DURATION };
    client.drive(&target.requests, target.status, warm_up)?;
    let (server, database) = (used()?, data.cpu_of_database()?);
    let response_count = client.drive(&target.requests, target.status, bounds)?;
    let (server, database) = (used()?.since(&server), data.cpu_of_database()?.zip(database));
    let each = |spent: Duration| spent.as_secs_f64() * 1e6 / response_count as f64;
    let database = database.map(|(now, before)| each(now.since(&before)));
    Ok((each(server), database))
}
