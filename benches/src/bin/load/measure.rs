//! Measuring works in turn: processor time per request, from the kernel's account of the servers.

use std::error::Error;
use std::time::Duration;

use catalogue_benches::{Data, Figures, cpu_of_process};

use crate::client::{Bounds, Client};
use crate::options::Options;
use crate::works::{Target, Work};
use crate::writer::Writer;

/// One measurement takes this long at most.
const LONGEST: Duration = Duration::from_secs(4);
/// What is sent before a measurement at least.
const WARM_UP: u64 = 500;

/// The figures of one work.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) goal: f64,
    /// µs of the processor's time per request.
    pub(crate) this: Figures,
    pub(crate) than: Figures,
    /// One over the other, round by round.
    pub(crate) multiple: Figures,
    /// Commits a second meanwhile, where there are any.
    pub(crate) commits: Option<Figures>,
}

/// One measurement of a work, and the commits a second meanwhile.
struct Sample {
    this: f64,
    than: f64,
    commits: Option<f64>,
}

/// Measures every work once a round, this and the other one after the other; what is first changes from round to round.
pub(crate) fn all(works: &[Work], data: &Data, options: &Options) -> Result<Vec<Row>, Box<dyn Error>> {
    let mut samples: Vec<Vec<Sample>> = works.iter().map(|_| Vec::new()).collect();
    for round in 0..options.rounds {
        for (work, samples) in works.iter().zip(&mut samples) {
            let sample = once(work, data, options, round % 2 == 1);
            samples.push(sample.map_err(|error| format!("{}: {error}", work.name))?);
        }
    }
    let row = |(work, samples): (&Work, Vec<Sample>)| Row {
        name: work.name,
        goal: work.goal,
        this: samples.iter().map(|sample| sample.this).collect(),
        than: samples.iter().map(|sample| sample.than).collect(),
        multiple: samples.iter().map(|sample| sample.this / sample.than).collect(),
        commits: samples.iter().map(|sample| sample.commits).collect::<Option<_>>(),
    };
    Ok(works.iter().zip(samples).map(row).collect())
}

fn once(work: &Work, data: &Data, options: &Options, other_first: bool) -> Result<Sample, Box<dyn Error>> {
    let writer = if work.under_commits { Some(Writer::start(data)?) } else { None };
    let bounds = match work.under_commits {
        // Long enough for many commits.
        true => Bounds { requests: u64::MAX, time: Duration::from_millis(if options.quick { 300 } else { 1_500 }) },
        false => Bounds { requests: options.requests, time: LONGEST },
    };
    let order = if other_first { [&work.than, &work.this] } else { [&work.this, &work.than] };
    let [first, second] = order.map(|target| cost(target, bounds));
    let commits = writer.map(Writer::end).transpose()?;
    let (first, second) = (first?, second?);
    let (this, than) = if other_first { (second, first) } else { (first, second) };
    Ok(Sample { this, than, commits })
}

/// What one request costs the server, in µs of the processor's time.
fn cost(target: &Target, bounds: Bounds) -> Result<f64, Box<dyn Error>> {
    let mut client = Client::connect(target.address)?;
    let warm_up = Bounds { requests: WARM_UP.max(target.requests.len() as u64), time: LONGEST };
    client.drive(&target.requests, target.status, warm_up)?;
    let before = cpu_of_process(target.process)?;
    let answered = client.drive(&target.requests, target.status, bounds)?;
    let spent = cpu_of_process(target.process)?.saturating_sub(before);
    Ok(spent.as_secs_f64() * 1e6 / answered as f64)
}

/// Sends each request once.
pub(crate) fn visit(process: &Target) -> Result<(), Box<dyn Error>> {
    let bounds = Bounds { requests: process.requests.len() as u64, time: Duration::from_secs(120) };
    Client::connect(process.address)?.drive(&process.requests, process.status, bounds)?;
    Ok(())
}
