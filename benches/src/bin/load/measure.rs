//! Measuring works in turn: processor time per request, from the kernel's account of the servers.

use std::error::Error;
use std::time::Duration;

use catalogue_benches::{Data, cpu_of_process};

use crate::Options;
use crate::client::{Bounds, Client};
use crate::works::{Target, Work, is_under_commits};
use crate::writer::under_commits;

/// One measurement takes this long at most.
const LONGEST: Duration = Duration::from_secs(4);
/// What is sent before a measurement at least.
const WARM_UP: u64 = 500;

/// A work and what was measured, once a round.
pub(crate) type Row<'w> = (&'w Work, Vec<Sample>);

/// One measurement of a work: µs of the processor's time per request.
pub(crate) struct Sample {
    pub(crate) this: f64,
    pub(crate) than: f64,
    /// Of the database's processes for this one, where there are any.
    pub(crate) database: Option<f64>,
    /// Commits a second meanwhile, where there are any.
    pub(crate) commits: Option<f64>,
}

/// Measures every work once a round, this and the other one after the other; what is first changes from round to round.
pub(crate) fn all<'w>(works: &'w [Work], data: &Data, options: &Options) -> Result<Vec<Row<'w>>, Box<dyn Error>> {
    let mut rows: Vec<Row<'_>> = works.iter().map(|work| (work, Vec::new())).collect();
    for round in 0..options.rounds {
        for (work, samples) in &mut rows {
            let measured = once(work, data, options, round % 2 == 1);
            samples.push(measured.map_err(|error| format!("{}: {error}", work.name))?);
        }
    }
    Ok(rows)
}

fn once(work: &Work, data: &Data, options: &Options, other_first: bool) -> Result<Sample, Box<dyn Error>> {
    let bounds = match is_under_commits(work.name) {
        // Long enough for many commits.
        true => Bounds { requests: u64::MAX, time: Duration::from_millis(if options.quick { 300 } else { 1_500 }) },
        false => Bounds { requests: options.requests, time: LONGEST },
    };
    let order = if other_first { [&work.than, &work.this] } else { [&work.this, &work.than] };
    let both = || order.map(|target| cost(target, data, bounds));
    let ([first, second], commits) = match is_under_commits(work.name) {
        true => under_commits(data, both).map(|(costs, commits)| (costs, Some(commits)))?,
        false => (both(), None),
    };
    let (first, second) = (first?, second?);
    let ((mut this, database), (mut than, of_other)) = if other_first { (second, first) } else { (first, second) };
    if work.with_database {
        this += database.unwrap_or_default();
        than += of_other.unwrap_or_default();
    }
    Ok(Sample { this, than, database, commits })
}

/// What one request costs the servers and the database, in µs of the processor's time.
fn cost(target: &Target, data: &Data, bounds: Bounds) -> Result<(f64, Option<f64>), Box<dyn Error>> {
    let used = || cpu_of_process(target.process);
    let mut client = Client::connect(target.address)?;
    let warm_up = Bounds { requests: WARM_UP.max(target.requests.len() as u64), time: LONGEST };
    client.drive(&target.requests, target.status, warm_up)?;
    let (server, database) = (used()?, data.cpu_of_database()?);
    let answered = client.drive(&target.requests, target.status, bounds)?;
    let (server, database) = (used()?.checked_sub(server), data.cpu_of_database()?.zip(database));
    let each = |spent: Duration| spent.as_secs_f64() * 1e6 / answered as f64;
    let database = database.map(|(now, before)| each(now.saturating_sub(before)));
    Ok((each(server.unwrap_or_default()), database))
}
