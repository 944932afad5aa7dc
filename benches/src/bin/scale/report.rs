//! Figures as tables, in Markdown.

use crate::cost::Cost;
use crate::plans::Statement;
use crate::rows::Size;

/// What is there, and how much room it takes.
pub(crate) fn size(courses: u64, accounts: u64, of_largest: i64, sizes: &[Size]) {
    println!("\n## {courses} courses of {accounts} accounts, {of_largest} of the largest\n");
    println!("| table or index | MiB |\n|---|--:|");
    for Size { name, bytes } in sizes {
        println!("| `{name}` | {:.1} |", *bytes as f64 / f64::from(1 << 20));
    }
}

/// Above [`plans`].
pub(crate) fn head_of_plans() {
    println!("\n| call | statements | rows | blocks |\n|---|--:|--:|--:|");
}

/// What a call asks of the database, statement by statement.
pub(crate) fn plans(name: &str, statements: &[Statement]) {
    let each = |figure: fn(&Statement) -> u64| {
        statements.iter().map(|statement| figure(statement).to_string()).collect::<Vec<_>>().join(" + ")
    };
    println!("| {name} | {} | {} | {} |", statements.len(), each(Statement::rows), each(Statement::blocks));
}

/// Above [`cost`].
pub(crate) fn head_of_costs(whose: &str) {
    println!("\n| {whose} | µs of the server | lowest–highest | µs of the database | lowest–highest |");
    println!("|---|--:|--:|--:|--:|");
}

/// What a request costs.
pub(crate) fn cost(name: &str, cost: &Cost) {
    let [servers, database] = [&cost.servers, &cost.database].map(|figures| {
        let (lowest, highest) = figures.range();
        format!("{:.1} | {lowest:.1}–{highest:.1}", figures.median())
    });
    println!("| {name} | {servers} | {database} |");
}
