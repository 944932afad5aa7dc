//! [`Plans`]: the statements that a call of the catalogue sends, and how the database ran each, as the database itself
//! writes it down (its extension `auto_explain`): the storage's own statements, prepared as they always are.

use std::error::Error;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;

use catalogue_core::Catalogue;
use http::{Request, StatusCode};
use serde_json::Value;

use crate::database::Database;

/// For each session that is opened with it.
const WRITTEN_DOWN: &str = " options='-c session_preload_libraries=auto_explain -c auto_explain.log_min_duration=0 \
                            -c auto_explain.log_analyze=on -c auto_explain.log_buffers=on -c auto_explain.log_timing=off \
                            -c auto_explain.log_format=json'";
/// How often a call is made: from the sixth time on the database may use a plan for any values.
const CALLS: usize = 8;
/// A table of so few blocks is read as a whole; an index would cost more.
const FEW_BLOCKS: u64 = 8;
/// What is read of an index on the way to its leaves, and of the tables beside that of the courses, at most.
const ON_THE_WAY: u64 = 20;

/// A catalogue over sessions whose plans are written down.
pub(crate) struct Plans {
    catalogue: Catalogue,
    log: PathBuf,
}

/// A statement that was run.
pub(crate) struct Statement {
    plan: Value,
    pub(crate) text: String,
}

impl Plans {
    /// One that keeps answers, or renders each anew.
    pub(crate) fn of(database: &Database, keeping: bool) -> Result<Self, Box<dyn Error>> {
        let builder = Catalogue::with_api_keys(database.storage(WRITTEN_DOWN)?);
        let catalogue = if keeping { builder } else { builder.page_cache(0) }.build()?;
        Ok(Self { catalogue, log: database.log() })
    }

    /// The statements of one call, once it is known.
    pub(crate) fn call(&self, database: &Database, token: &str, path: &str) -> Result<Vec<Statement>, Box<dyn Error>> {
        let mut written = String::new();
        for _ in 0..CALLS {
            let mut log = File::open(&self.log)?;
            log.seek(SeekFrom::End(0))?;
            let request = Request::get(path).header("authorization", format!("Bearer {token}")).body(())?;
            let status = database.wait(self.catalogue.call(request)).status();
            if status != StatusCode::OK {
                return Err(format!("{path}: {status}").into());
            }
            written.clear();
            log.read_to_string(&mut written)?;
        }
        statements(&written)
    }
}

/// The plans in a piece of the database's log: each stands on lines that begin with a tabulator.
fn statements(log: &str) -> Result<Vec<Statement>, Box<dyn Error>> {
    let mut statements = Vec::new();
    for entry in log.split("  plan:\n").skip(1) {
        let lines: String = entry.lines().take_while(|line| line.starts_with('\t')).collect();
        let plan: Value = serde_json::from_str(&lines)?;
        let text = plan["Query Text"].as_str().ok_or("a plan without a statement")?.to_owned();
        statements.push(Statement { plan: plan["Plan"].clone(), text });
    }
    Ok(statements)
}

impl Statement {
    /// How many rows it gave.
    pub(crate) fn rows(&self) -> u64 {
        number(&self.plan, "Actual Rows")
    }

    /// How many blocks of tables and indexes it looked into.
    pub(crate) fn blocks(&self) -> u64 {
        blocks(&self.plan)
    }

    /// An error unless it reads each table through one index, and no more rows than it gives.
    pub(crate) fn check(&self) -> Result<(), String> {
        let mut tables = Vec::new();
        for (_, step) in self.steps() {
            let Some(table) = step["Alias"].as_str() else { continue };
            let through_index = step["Index Cond"].is_string() && step["Filter"].is_null();
            if !through_index && blocks(step) > FEW_BLOCKS {
                return Err(format!("{} reads {table} otherwise than through an index:\n{}", self.text, self.shown()));
            }
            tables.push(table);
        }
        tables.sort_unstable();
        if tables.is_empty() || tables.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(format!("{} reads a table twice, or none:\n{}", self.text, self.shown()));
        }
        match self.blocks() <= self.rows() + ON_THE_WAY {
            true => Ok(()),
            false => Err(format!("{} looks into {} blocks:\n{}", self.text, self.blocks(), self.shown())),
        }
    }

    /// The plan, a step a line.
    pub(crate) fn shown(&self) -> String {
        let mut shown = String::new();
        for (depth, step) in self.steps() {
            let text = |field: &str| step[field].as_str().unwrap_or_default();
            shown += &"  ".repeat(depth);
            shown += text("Node Type");
            if text("Scan Direction") == "Backward" {
                shown += " Backward";
            }
            for (word, field) in [("using", "Index Name"), ("on", "Relation Name"), ("where", "Index Cond")] {
                if step[field].is_string() {
                    shown += &format!(" {word} {}", text(field));
                }
            }
            shown += &format!("  [{} rows, {} blocks]\n", number(step, "Actual Rows"), blocks(step));
        }
        shown
    }

    /// Each step with its depth, in the order of the plan.
    fn steps(&self) -> Vec<(usize, &Value)> {
        fn collect<'p>(depth: usize, step: &'p Value, steps: &mut Vec<(usize, &'p Value)>) {
            steps.push((depth, step));
            for below in step["Plans"].as_array().into_iter().flatten() {
                collect(depth + 1, below, steps);
            }
        }
        let mut steps = Vec::new();
        collect(0, &self.plan, &mut steps);
        steps
    }
}

fn blocks(step: &Value) -> u64 {
    number(step, "Shared Hit Blocks") + number(step, "Shared Read Blocks")
}

fn number(step: &Value, field: &str) -> u64 {
    step[field].as_u64().unwrap_or(0)
}
