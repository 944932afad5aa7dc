//! [`Plan`]: what `EXPLAIN (VERBOSE)` says, as far as it tells what is read.

/// The steps of a plan.
#[derive(Debug)]
pub(crate) struct Plan(Vec<Step>);

/// One step.
#[derive(Debug, Default)]
struct Step {
    /// How far to the right it stands: further than what it is a part of.
    depth: usize,
    kind: String,
    /// What it reads, as SQL names it, and the name that its columns have in the plan.
    source: Option<(String, String)>,
    /// The expressions that it hands on.
    output: Vec<String>,
    /// What it finds by an index.
    found: Vec<String>,
    /// What it compares row by row.
    filters: Vec<String>,
    /// What it compares each row of the one with each of the other by.
    joins: Vec<String>,
}

/// A table that is read beyond what is needed of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Scan {
    pub(crate) table: String,
    pub(crate) reads_all: bool,
    /// Its columns or expressions that are compared for equality, each once.
    pub(crate) compared: Vec<String>,
}

impl Plan {
    pub(crate) fn parse(lines: &[&str]) -> Self {
        let mut steps: Vec<Step> = Vec::new();
        for line in lines {
            let text = line.trim_start();
            if let Some((head, _)) = text.rsplit_once("  (cost=") {
                steps.push(Step::parse(line.len() - text.len(), head.trim_start_matches("->  ")));
            } else if let (Some(step), Some((name, value))) = (steps.last_mut(), text.split_once(": ")) {
                let conditions = || split(inner(value), " AND ");
                match name {
                    "Output" => step.output = split(value, ", "),
                    "Index Cond" => step.found = conditions(),
                    // The comparison by bytes repeats one that an index serves.
                    "Filter" => {
                        step.filters = conditions().into_iter().filter(|one| !one.contains(") IS TRUE")).collect();
                    }
                    "Join Filter" | "Hash Cond" | "Merge Cond" => step.joins.extend(conditions()),
                    _ => {}
                }
            }
        }
        Self(steps)
    }

    pub(crate) fn sorts(&self) -> bool {
        self.0.iter().any(|step| step.kind.ends_with("Sort"))
    }

    /// Whether a part is computed as a whole before it is compared with one of `values`.
    pub(crate) fn computes_all(&self, values: &[String]) -> bool {
        let is_part = |step: &&Step| step.source.is_some() && !step.is_table();
        self.0.iter().filter(is_part).any(|step| step.compares(values))
    }

    /// Returns the tables that the plan reads.
    pub(crate) fn tables(&self) -> impl Iterator<Item = &String> {
        self.0.iter().filter(|step| step.is_table()).filter_map(|step| Some(&step.source.as_ref()?.0))
    }

    /// The tables that are read as a whole, or of which one of `values` or another table's column is compared without an
    /// index.
    pub(crate) fn scans(&self, values: &[String]) -> Vec<Scan> {
        let mut scans = Vec::new();
        for (at, step) in self.0.iter().enumerate().filter(|(_, step)| step.is_table()) {
            let Some((table, name)) = &step.source else { continue };
            let reads_all = step.kind.contains("Seq Scan");
            let joins: Vec<&String> = self.around(at, reads_all).flat_map(|step| &step.joins).collect();
            // A join may compare again what an index has found.
            let found: Vec<_> = step.found.iter().filter_map(|one| equality(one, name)).collect();
            let is_joined = joins.iter().filter_map(|join| equality(join, name)).any(|side| !found.contains(&side));
            if !reads_all && !is_joined && !step.compares(values) {
                continue;
            }
            let mut compared: Vec<String> = Vec::new();
            for condition in step.filters.iter().chain(joins).chain(&step.found) {
                compared.extend(equality(condition, name).filter(|expression| !compared.contains(expression)));
            }
            scans.push(Scan { table: table.clone(), reads_all, compared });
        }
        scans
    }

    /// The joins whose rows a step is read for again and again, and with `both` those that it begins too.
    fn around(&self, at: usize, both: bool) -> impl Iterator<Item = &Step> {
        let mut depth = self.0[at].depth;
        let mut later = false;
        self.0[..at].iter().rev().filter(move |step| {
            // One of the same depth comes first in the join that both are of.
            later |= step.depth == depth;
            if step.depth >= depth {
                return false;
            }
            depth = step.depth;
            let is_read_again = std::mem::take(&mut later);
            both || is_read_again
        })
    }

    /// The table that all the outcome's expressions are of but constants, and these expressions.
    pub(crate) fn source(&self) -> Option<(&str, Vec<String>)> {
        let output: Vec<_> = self.0.first()?.output.iter().filter(|one| !one.starts_with('\'')).collect();
        if output.is_empty() {
            return None;
        }
        let mut tables = self.0.iter().filter(|step| step.is_table()).filter_map(|step| step.source.as_ref());
        let (table, name) = tables.find(|(_, name)| output.iter().all(|one| mentions(one, name)))?;
        Some((table, output.iter().map(|one| without(one, name)).collect()))
    }
}

impl Step {
    fn parse(depth: usize, head: &str) -> Self {
        let (kind, source) = match head.split_once(" on ") {
            Some((kind, relation)) if kind.contains("Scan") => {
                let parts = split(relation, " ");
                let name = parts.get(1).cloned().or_else(|| split(&parts[0], ".").pop());
                (kind, name.map(|name| (parts[0].clone(), name)))
            }
            _ => (head, None),
        };
        Self { depth, kind: kind.to_owned(), source, ..Self::default() }
    }

    fn is_table(&self) -> bool {
        ["Seq Scan", "Index", "Bitmap Heap"].iter().any(|kind| self.kind.contains(kind)) && self.source.is_some()
    }

    fn compares(&self, values: &[String]) -> bool {
        self.filters.iter().any(|filter| values.iter().any(|value| filter.contains(value)))
    }
}

/// The side of an equality that is of that table, if only one is.
fn equality(filter: &str, name: &str) -> Option<String> {
    let sides = split(inner(filter), " = ");
    let [one, other] = &sides[..] else { return None };
    match (mentions(one, name), mentions(other, name)) {
        (true, false) => Some(without(one, name)),
        (false, true) => Some(without(other, name)),
        _ => None,
    }
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || ['_', '$', '"', '.'].contains(&c)
}

fn mentions(expression: &str, name: &str) -> bool {
    without(expression, name) != expression
}

/// The expression without the table's name before its columns.
fn without(expression: &str, name: &str) -> String {
    let (mut found, mut rest, prefix) = (String::new(), expression, format!("{name}."));
    while let Some((before, after)) = rest.split_once(&prefix) {
        found.push_str(before);
        if found.ends_with(is_of_name) {
            found.push_str(&prefix);
        }
        rest = after;
    }
    found + rest
}

/// What is between the outermost parentheses, where one pair is around all of it.
fn inner(text: &str) -> &str {
    let stripped = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    stripped.filter(|rest| depths(rest).all(|(_, depth, _)| depth >= 0)).unwrap_or(text)
}

/// The parts between separators that stand outside of parentheses and quotes.
fn split(text: &str, separator: &str) -> Vec<String> {
    let (mut parts, mut from) = (Vec::new(), 0);
    for (at, depth, quoted) in depths(text) {
        if depth == 0 && !quoted && at >= from && text[at..].starts_with(separator) {
            parts.push(text[from..at].to_owned());
            from = at + separator.len();
        }
    }
    parts.push(text[from..].to_owned());
    parts
}

/// Each character's place, how many parentheses are open after it, and whether it stands in quotes.
fn depths(text: &str) -> impl Iterator<Item = (usize, i32, bool)> {
    let (mut depth, mut quote) = (0, None);
    text.char_indices().map(move |(at, c)| {
        match (c, quote) {
            ('\'' | '"', None) => quote = Some(c),
            (_, Some(open)) if c == open => quote = None,
            ('(', None) => depth += 1,
            (')', None) => depth -= 1,
            _ => {}
        }
        (at, depth, quote.is_some())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_compared_from_either_side() {
        for (filter, column) in [
            ("(t.owner = a.id)", Some("owner")),
            ("(a.id = t.owner)", Some("owner")),
            ("(t.owner = t.id)", None),
            ("(a.id = b.id)", None),
            ("(t.owner > a.id)", None),
        ] {
            assert_eq!(equality(filter, "t").as_deref(), column, "{filter}");
        }
    }

    #[test]
    fn what_comes_second_in_a_join_is_read_again_and_again() {
        let plan = Plan::parse(&[
            "Nested Loop  (cost=0.00..20.00 rows=10 width=8)",
            "  ->  Seq Scan on public.a  (cost=0.00..10.00 rows=10 width=4)",
            "  ->  Seq Scan on public.b  (cost=0.00..10.00 rows=1 width=4)",
        ]);
        let joins = |at, both| plan.around(at, both).count();
        assert_eq!([joins(1, false), joins(1, true), joins(2, false), joins(2, true)], [0, 1, 1, 1]);
    }

    #[test]
    fn what_is_compared_without_an_index_is_named_as_an_index_would_have_it() {
        let plan = Plan::parse(&[
            "Sort  (cost=10.00..20.00 rows=1000 width=80)",
            "  Output: ((c.slug)::text), c.created",
            "  ->  Nested Loop  (cost=1.00..2.00 rows=7 width=8)",
            "        Join Filter: (l.course_id = c.id)",
            "        ->  Index Scan using i on public.\"my course\" c  (cost=0.42..8.44 rows=1234 width=7)",
            "              Index Cond: (c.kind = 1)",
            "              Filter: ((c.gone IS NULL) AND ((c.team_id)::text = $1) AND ((c.slug)::text = 'a AND ('::text))",
            "        ->  Seq Scan on public.lesson l  (cost=0.42..8.44 rows=1 width=7)",
        ]);
        assert!(plan.sorts() && !plan.computes_all(&["$1".to_owned()]));
        let scan = |table: &str, reads_all, compared: &[&str]| {
            let compared = compared.iter().map(|&one| one.to_owned()).collect();
            Scan { table: table.to_owned(), reads_all, compared }
        };
        let course = scan("public.\"my course\"", false, &["(team_id)::text", "(slug)::text", "kind"]);
        let lesson = scan("public.lesson", true, &["course_id"]);
        assert_eq!(plan.scans(&["$1".to_owned()]), [course, lesson]);
        assert_eq!(plan.scans(&["$2".to_owned()]).len(), 1, "the course is found by an index as far as `$2` goes");
    }

    #[test]
    fn a_part_that_is_computed_as_a_whole_is_no_table() {
        let part =
            ["Subquery Scan on m  (cost=1)", "  Filter: (m.slug = 'a'::text)", "  ->  Index Scan on lesson  (cost=1)"];
        let plan = Plan::parse(&part);
        assert!(plan.computes_all(&["'a'".to_owned()]));
        assert_eq!(plan.scans(&["'a'".to_owned()]), []);
    }

    #[test]
    fn the_table_of_all_columns_is_found() {
        let source = |output| {
            let [one, other] = ["course", "team t"].map(|table| format!("  ->  Seq Scan on public.{table}  (cost=1)"));
            let lines = ["Nested Loop  (cost=1)", output, &one, &other];
            Plan::parse(&lines).source().map(|(table, columns)| format!("{table} {}", columns.join("|")))
        };
        let found = source("  Output: (course.team_id)::text, course.created, lower((course.slug)::text)");
        assert_eq!(found.as_deref(), Some("public.course (team_id)::text|created|lower((slug)::text)"));
        assert_eq!(
            ["  Output: t.name, course.created", "  Output: my_course.created", ""].map(source),
            [None, None, None]
        );
    }
}
