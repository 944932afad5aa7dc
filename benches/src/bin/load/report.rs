//! Figures as tables, or as JSON.

use catalogue_benches::Figures;
use serde_json::{Value, json};

use crate::measure::Row;
use crate::memory::Memory;

const MEBIBYTE: f64 = (1 << 20) as f64;

/// All that was measured.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) accounts: usize,
    pub(crate) courses: usize,
    pub(crate) rows: Vec<Row>,
    /// With the cache that `serve` has by default, and without any.
    pub(crate) memory: [Memory; 2],
}

impl Report {
    /// The tables, in Markdown.
    pub(crate) fn tables(&self) -> String {
        let mut text = format!(
            "{} courses in {} accounts; processor time per request in µs, medians over the rounds.\n\n\
             | work | µs | constant µs | multiple | lowest–highest | goal |\n|---|--:|--:|--:|--:|--:|\n",
            self.courses, self.accounts
        );
        for row in &self.rows {
            let (lowest, highest) = row.multiple.range();
            text += &format!(
                "| {}{} | {:.1} | {:.1} | {:.2} | {lowest:.2}–{highest:.2} | ≤ {} |\n",
                row.name,
                row.commits.as_ref().map(|commits| format!(" ({:.0}/s)", commits.median())).unwrap_or_default(),
                row.this.median(),
                row.than.median(),
                row.multiple.median(),
                row.goal,
            );
        }
        text += "\n| memory in MiB | one page of each account | cache full | most |\n|---|--:|--:|--:|\n";
        for (name, memory) in ["with the default cache", "with --page-cache 0"].into_iter().zip(self.memory) {
            let [one_page, full, most] = [memory.one_page, memory.full, memory.most].map(|n| n as f64 / MEBIBYTE);
            text += &format!("| {name} | {one_page:.1} | {full:.1} | {most:.1} |\n");
        }
        let [with, without] = self.memory;
        text + &format!(
            "| difference: the cache | {:.1} | {:.1} | |\n",
            (with.one_page as f64 - without.one_page as f64) / MEBIBYTE,
            (with.full as f64 - without.full as f64) / MEBIBYTE,
        )
    }

    /// The same as JSON.
    pub(crate) fn json(&self) -> Value {
        let row = |row: &Row| {
            json!({
                "work": row.name,
                "goal": row.goal,
                "micros": figures(&row.this),
                "constantMicros": figures(&row.than),
                "multiple": figures(&row.multiple),
                "commitsPerSecond": row.commits.as_ref().map(Figures::median),
            })
        };
        let memory = |memory: Memory| json!({ "onePage": memory.one_page, "full": memory.full, "most": memory.most });
        json!({
            "accounts": self.accounts,
            "courses": self.courses,
            "works": self.rows.iter().map(row).collect::<Vec<_>>(),
            "memoryBytes": { "defaultCache": memory(self.memory[0]), "noCache": memory(self.memory[1]) },
        })
    }
}

fn figures(figures: &Figures) -> Value {
    let (lowest, highest) = figures.range();
    json!({ "median": figures.median(), "lowest": lowest, "highest": highest })
}
