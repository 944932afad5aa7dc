//! [`Exposition`]: metrics in the text format of Prometheus.

use std::fmt::{Display, Write as _};

/// The media type of the text format.
pub const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Text in the format of Prometheus. Each metric begins with its help and its type.
#[derive(Debug, Default)]
pub struct Exposition(String);

/// A metric, to which values are added.
#[derive(Debug)]
pub struct Metric<'e> {
    out: &'e mut String,
    name: &'static str,
}

impl Exposition {
    /// Adds a metric with a single value.
    pub fn single(&mut self, name: &'static str, help: &str, value: impl Display) {
        self.metric(name, help).value(&[], value);
    }

    /// Adds a metric: a counter if its name ends in `_total`, otherwise a gauge.
    pub fn metric(&mut self, name: &'static str, help: &str) -> Metric<'_> {
        self.begin(name, if name.ends_with("_total") { "counter" } else { "gauge" }, help)
    }

    /// Adds a histogram.
    pub(crate) fn histogram(&mut self, name: &'static str, help: &str) -> Metric<'_> {
        self.begin(name, "histogram", help)
    }

    /// Returns the text, for a response with [`MEDIA_TYPE`].
    pub fn into_text(self) -> String {
        self.0
    }

    fn begin(&mut self, name: &'static str, kind: &str, help: &str) -> Metric<'_> {
        writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}").expect("writing to a String cannot fail");
        Metric { out: &mut self.0, name }
    }
}

impl Metric<'_> {
    /// Adds a value with these labels.
    pub fn value(&mut self, labels: &[(&str, &str)], value: impl Display) {
        self.sample("", labels, value);
    }

    /// Adds the buckets of a histogram, each with its upper bound and its own count. The last bound must be `+Inf`.
    pub(crate) fn buckets(&mut self, label: (&str, &str), buckets: impl Iterator<Item = (String, u64)>, sum: f64) {
        let mut cumulative = 0;
        for (bound, count) in buckets {
            cumulative += count;
            self.sample("_bucket", &[label, ("le", &bound)], cumulative);
        }
        self.sample("_sum", &[label], sum);
        self.sample("_count", &[label], cumulative);
    }

    fn sample(&mut self, suffix: &str, labels: &[(&str, &str)], value: impl Display) {
        let out = &mut *self.out;
        write!(out, "{}{suffix}", self.name).expect("writing to a String cannot fail");
        for (index, (name, value)) in labels.iter().enumerate() {
            let value = value.replace('\\', r"\\").replace('"', r#"\""#).replace('\n', r"\n");
            write!(out, "{}{name}=\"{value}\"", if index == 0 { '{' } else { ',' })
                .expect("writing to a String cannot fail");
        }
        let end = if labels.is_empty() { "" } else { "}" };
        writeln!(out, "{end} {value}").expect("writing to a String cannot fail");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exposition_contains_values_labels_and_buckets() {
        let mut out = Exposition::default();
        out.single("g", "A gauge.", 1.5);
        out.metric("c_total", "A counter.").value(&[("a", "x"), ("b", "y\"\\\n")], 2);
        let buckets = [("0.1".to_owned(), 3), ("+Inf".to_owned(), 1)];
        out.histogram("h_seconds", "A histogram.").buckets(("of", "z"), buckets.into_iter(), 0.25);
        let expected = "\
# HELP g A gauge.
# TYPE g gauge
g 1.5
# HELP c_total A counter.
# TYPE c_total counter
c_total{a=\"x\",b=\"y\\\"\\\\\\n\"} 2
# HELP h_seconds A histogram.
# TYPE h_seconds histogram
h_seconds_bucket{of=\"z\",le=\"0.1\"} 3
h_seconds_bucket{of=\"z\",le=\"+Inf\"} 4
h_seconds_sum{of=\"z\"} 0.25
h_seconds_count{of=\"z\"} 4
";
        assert_eq!(out.0, expected);
    }
}
