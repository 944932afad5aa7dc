//! Figures as tables, in Markdown.

use catalogue_benches::Figures;

use crate::measure::{Row, Sample};
use crate::memory::Memory;

/// What was measured of each work.
pub(crate) fn print_works(courses: usize, accounts: usize, rows: &[Row<'_>]) {
    println!("{courses} courses in {accounts} accounts; processor time per request in µs, medians over the rounds.\n");
    println!("| work | µs | database µs | constant µs | multiple | lowest–highest | goal |");
    println!("|---|--:|--:|--:|--:|--:|--:|");
    for (work, samples) in rows {
        let figures = |figure: fn(&Sample) -> Option<f64>| samples.iter().map(figure).collect::<Option<Figures>>();
        let median = |figure| figures(figure).map(|figures| format!("{:.1}", figures.median())).unwrap_or_default();
        let commits = figures(|sample| sample.commits).map(|commits| format!(" ({:.0}/s)", commits.median()));
        let multiple: Figures = samples.iter().map(|sample| sample.this / sample.than).collect();
        let (lowest, highest) = multiple.range();
        println!(
            "| {}{} | {} | {} | {} | {:.2} | {lowest:.2}–{highest:.2} | {} |",
            work.name,
            commits.unwrap_or_default(),
            median(|sample| Some(sample.this)),
            median(|sample| sample.database),
            median(|sample| Some(sample.than)),
            multiple.median(),
            if work.goal.is_nan() { String::new() } else { format!("≤ {}", work.goal) },
        );
    }
}

/// How quiet the machine was.
pub(crate) fn print_latencies(latencies: &Figures) {
    let (median, (lowest, highest)) = (latencies.median(), latencies.range());
    println!("\nA step through 16 MiB of memory took {median:.0} ns beside these ({lowest:.0}–{highest:.0}).");
}

/// What the servers hold with the cache that they have by default, and without any.
pub(crate) fn print_memory(memory: [Memory; 2]) {
    println!("\n| memory in MiB | one page of each account | cache full | most |\n|---|--:|--:|--:|");
    let [with, without] =
        memory.map(|memory| [memory.one_page, memory.full, memory.most].map(|bytes| bytes as f64 / f64::from(1 << 20)));
    for (name, [one_page, full, most]) in [("with the default cache", with), ("with --page-cache 0", without)] {
        println!("| {name} | {one_page:.1} | {full:.1} | {most:.1} |");
    }
    println!("| difference: the cache | {:.1} | {:.1} | |", with[0] - without[0], with[1] - without[1]);
}

/// What a server holds of the tokens that it keeps.
pub(crate) fn print_kept_tokens(bytes: u64) {
    println!(
        "\n10,000 kept tokens take {:.1} MiB, with what the storage caches of their revocations.",
        bytes as f64 / f64::from(1 << 20)
    );
}
