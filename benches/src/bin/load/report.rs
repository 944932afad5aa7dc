//! Results as Markdown tables.

use catalogue_benches::Figures;

use crate::measure::{MeasuredRow, Sample};

/// Prints the results of each row.
pub(crate) fn print_rows(courses: usize, accounts: usize, results: &[MeasuredRow<'_>]) {
    println!("{courses} courses in {accounts} accounts; processor time per request in µs, medians over the rounds.\n");
    println!("| row | µs | database µs | baseline µs | ratio | lowest–highest | goal |");
    println!("|---|--:|--:|--:|--:|--:|--:|");
    for (row, samples) in results {
        let figures = |figure: fn(&Sample) -> Option<f64>| samples.iter().map(figure).collect::<Option<Figures>>();
        let median = |figure| figures(figure).map(|figures| format!("{:.1}", figures.median())).unwrap_or_default();
        let commits = figures(|sample| sample.commits).map(|commits| format!(" ({:.0}/s)", commits.median()));
        let ratio: Figures = samples.iter().map(|sample| sample.measured / sample.baseline).collect();
        let (lowest, highest) = ratio.range();
        println!(
            "| {}{} | {} | {} | {} | {:.2} | {lowest:.2}–{highest:.2} | {} |",
            row.name,
            commits.unwrap_or_default(),
            median(|sample| Some(sample.measured)),
            median(|sample| sample.database),
            median(|sample| Some(sample.baseline)),
            ratio.median(),
            if row.goal.is_nan() { String::new() } else { format!("≤ {}", row.goal) },
        );
    }
}
