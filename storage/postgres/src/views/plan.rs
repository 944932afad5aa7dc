//! [`Plan`]: what `EXPLAIN (VERBOSE)` says, as far as it tells what is read.

/// The steps of a plan.
#[derive(Debug)]
pub(crate) struct Plan(Vec<Step>);

/// One step.
#[derive(Debug, Default)]
pub(crate) struct Step {
    pub(crate) kind: String,
    /// The table that it reads, as SQL names it, and the name that its columns have in the plan.
    pub(crate) table: Option<(String, String)>,
    pub(crate) rows: f64,
    /// The expressions that it hands on.
    output: Vec<String>,
    /// What it compares row by row, beside an index.
    filters: Vec<String>,
}

impl Plan {
    pub(crate) fn parse(lines: &[&str]) -> Self {
        let mut steps: Vec<Step> = Vec::new();
        for line in lines {
            let line = line.trim_start();
            if let Some((head, costs)) = line.rsplit_once("  (cost=") {
                steps.push(Step::parse(head.trim_start_matches("->  "), costs));
            } else if let (Some(step), Some((name, value))) = (steps.last_mut(), line.split_once(": ")) {
                match name {
                    "Output" => step.output = split(value, ", "),
                    "Filter" | "Join Filter" | "Hash Cond" | "Merge Cond" => {
                        step.filters.extend(split(inner(value), " AND "));
                    }
                    _ => {}
                }
            }
        }
        Self(steps)
    }

    pub(crate) fn sorts(&self) -> bool {
        self.0.iter().any(Step::sorts)
    }

    /// Those that read a whole table, or compare more rows than an index leaves, where one of `values` or another table's
    /// column is compared.
    pub(crate) fn scans(&self, values: &[String]) -> impl Iterator<Item = (&Step, &str, &str)> {
        let is_bad = move |step: &Step, name: &str| {
            let compared = step.filters.iter().any(|filter| values.iter().any(|value| filter.contains(value)));
            let joined = || {
                self.0.iter().flat_map(|other| &other.filters).any(|filter| {
                    mentions(filter, name) && equality(filter, name).is_some() && !step.filters.contains(filter)
                })
            };
            step.kind.contains("Seq Scan") || compared || joined()
        };
        self.0.iter().filter_map(move |step| {
            let (table, name) = step.table.as_ref()?;
            is_bad(step, name).then_some((step, &**table, &**name))
        })
    }

    /// What of that table is compared for equality without an index, each once.
    pub(crate) fn compared(&self, name: &str) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for filter in self.0.iter().flat_map(|step| &step.filters) {
            if let Some(expression) = equality(filter, name).filter(|expression| !found.contains(expression)) {
                found.push(expression);
            }
        }
        found
    }

    /// The table that all the outcome's expressions are of, and these expressions.
    pub(crate) fn source(&self) -> Option<(&str, Vec<String>)> {
        let output = &self.0.first()?.output;
        let (table, name) = self
            .0
            .iter()
            .filter_map(|step| step.table.as_ref())
            .find(|(_, name)| output.iter().all(|one| mentions(one, name)))?;
        Some((table, output.iter().map(|one| without(one, name)).collect()))
    }

    /// The most rows that a step sorts, or that it reads of a whole table.
    pub(crate) fn most_rows(&self) -> f64 {
        let many = self.0.iter().filter(|step| step.sorts() || step.kind.contains("Seq Scan"));
        many.map(|step| step.rows).fold(0.0, f64::max)
    }
}

impl Step {
    fn parse(head: &str, costs: &str) -> Self {
        let rows = costs.split_once("rows=").and_then(|(_, rest)| rest.split(' ').next()?.parse().ok());
        let (kind, table) = match head.split_once(" on ") {
            Some((kind, relation)) if kind.contains("Scan") => {
                let parts = split(relation, " ");
                let name = parts.get(1).cloned().or_else(|| split(&parts[0], ".").pop());
                (kind, name.map(|name| (parts[0].clone(), name)))
            }
            _ => (head, None),
        };
        Self { kind: kind.to_owned(), table, rows: rows.unwrap_or_default(), ..Self::default() }
    }

    fn sorts(&self) -> bool {
        self.kind.ends_with("Sort")
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
    fn what_is_compared_without_an_index_is_named_as_an_index_would_have_it() {
        let plan = Plan::parse(&[
            "Sort  (cost=10.00..20.00 rows=1000 width=80)",
            "  Output: ((c.slug)::text), c.created",
            "  ->  Nested Loop  (cost=1.00..2.00 rows=7 width=8)",
            "        Join Filter: (l.course_id = c.id)",
            "        ->  Seq Scan on public.\"my course\" c  (cost=0.42..8.44 rows=1234 width=7)",
            "              Output: c.id, c.\"made, at\"",
            "              Filter: ((c.deleted_at IS NULL) AND ((c.team_id)::text = $1) AND ((c.slug)::text = 'a AND ('::text))",
            "        ->  Seq Scan on public.lesson l  (cost=0.42..8.44 rows=1 width=7)",
        ]);
        assert!(plan.sorts());
        assert_eq!(plan.most_rows(), 1234.0);
        let scans: Vec<_> = plan.scans(&["$1".to_owned()]).map(|(_, table, name)| (table, name)).collect();
        assert_eq!(scans, [("public.\"my course\"", "c"), ("public.lesson", "l")]);
        assert_eq!(plan.compared("c"), ["id", "(team_id)::text", "(slug)::text"]);
        assert_eq!(plan.compared("l"), ["course_id"]);
    }

    #[test]
    fn the_table_of_all_columns_is_found() {
        let source = |output| {
            let lines = [
                "Nested Loop  (cost=1..2 rows=7 width=8)",
                output,
                "  ->  Seq Scan on public.course  (cost=1..2 rows=7 width=8)",
                "  ->  Seq Scan on public.team t  (cost=1..2 rows=7 width=8)",
            ];
            Plan::parse(&lines).source().map(|(table, columns)| format!("{table} {}", columns.join("|")))
        };
        let found = source("  Output: (course.team_id)::text, course.created, lower((course.slug)::text)");
        assert_eq!(found.as_deref(), Some("public.course (team_id)::text|created|lower((slug)::text)"));
        assert_eq!(source("  Output: t.name, course.created"), None);
        assert_eq!(source("  Output: 'course.x'::text"), Some("public.course 'x'::text".to_owned()));
    }
}
