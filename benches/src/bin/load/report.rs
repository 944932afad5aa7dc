//! Results as Markdown tables.

use catalogue_benches::Figures;

use crate::measure::{Row, Sample};

/// Prints the results of each work.
pub(crate) fn print_works(courses: usize, accounts: usize, rows: &[Row<'_>]) {
    println!("{courses} courses in {accounts} accounts; processor time per request in µs, medians over the rounds.\n");
    println!("| work | µs | database µs | constant µs | multiple | lowest–highest | goal |");
    println!("|---|--:|--:|--:|--:|--:|--:|");
    for (work, samples) in rows {
        let figures = |figure: fn(&Sample) -> Option<f64>| samples.iter().map(figure).collect::<Option<Figures>>();
        let median = |figure| figures(figure).map(|figures| format!("{:.1}", figures.median())).unwrap_or_default();
        let commits = figures(|sample| sample.commits).map(|commits| format!(" ({:.0}/s)", commits.median()));
        let multiple: Figures = samples.iter().map(|sample| sample.this / sample.baseline).collect();
        let (lowest, highest) = multiple.range();
        println!(
            "| {}{} | {} | {} | {} | {:.2} | {lowest:.2}–{highest:.2} | {} |",
            work.name,
            commits.unwrap_or_default(),
            median(|sample| Some(sample.this)),
            median(|sample| sample.database),
            median(|sample| Some(sample.baseline)),
            multiple.median(),
            if work.goal.is_nan() { String::new() } else { format!("≤ {}", work.goal) },
        );
    }
}
