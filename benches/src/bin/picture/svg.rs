//! A plot in SVG: panels next to each other, each with lines over two logarithmic axes.

const WIDTH: f64 = 440.0;
const HEIGHT: f64 = 320.0;
/// Margins of a panel.
const LEFT_MARGIN: f64 = 88.0;
const RIGHT_MARGIN: f64 = 40.0;
const TOP_MARGIN: f64 = 88.0;
const BOTTOM_MARGIN: f64 = 56.0;

/// Colors for light and dark mode, distinguishable also with color blindness. The picture has its own background, because
/// the viewer around it may be dark although the system is light.
const STYLE: &str = "\
    .ground { fill: #ffffff; } text { font: 13px system-ui, sans-serif; fill: #1f2328; } .title { font-weight: 600; font-size: 14px; }\n    \
    path { fill: none; stroke-width: 1; } .grid { stroke: #d1d9e0; } .axis { stroke: #59636e; }\n    \
    polyline { fill: none; stroke-width: 2.5; } .l0 { stroke: #0969da; } .l1 { stroke: #bc4c00; }\n    \
    circle { stroke: none; } circle.l0, text.l0 { fill: #0969da; stroke: none; }\n    \
    circle.l1, text.l1 { fill: #bc4c00; stroke: none; }\n    \
    @media (prefers-color-scheme: dark) {\n      \
    .ground { fill: #0d1117; } text { fill: #f0f6fc; } .grid { stroke: #3d444d; } .axis { stroke: #9198a1; }\n      \
    .l0 { stroke: #58a6ff; } .l1 { stroke: #f0883e; } circle.l0, text.l0 { fill: #58a6ff; }\n      \
    circle.l1, text.l1 { fill: #f0883e; }\n    \
    }";

/// A plot of two lines over the same axes.
pub(crate) struct Panel {
    pub(crate) title: String,
    /// Label of the horizontal axis.
    pub(crate) x_label: &'static str,
    /// Label of each line, and its points from left to right; all numbers are positive.
    pub(crate) lines: [(&'static str, Vec<(f64, f64)>); 2],
}

/// An axis between whole powers of ten that includes all numbers.
#[derive(Clone, Copy)]
struct Axis {
    first: i32,
    last: i32,
}

impl Axis {
    fn over(numbers: impl Iterator<Item = f64> + Clone) -> Self {
        let lowest = numbers.clone().fold(f64::INFINITY, f64::min);
        let highest = numbers.fold(f64::MIN_POSITIVE, f64::max);
        let first = lowest.log10().floor() as i32;
        Self { first, last: (highest.log10().ceil() as i32).max(first + 1) }
    }

    /// Returns the position of a number on the axis, from 0 to 1.
    fn place(self, number: f64) -> f64 {
        (number.log10() - f64::from(self.first)) / f64::from(self.last - self.first)
    }

    fn marks(self) -> impl Iterator<Item = f64> {
        (self.first..=self.last).map(|power| 10_f64.powi(power))
    }
}

/// Draws the panels next to each other, over the same vertical axis, which is labeled `y_label`. Texts are XML.
pub(crate) fn draw(title: &str, y_label: &str, panels: &[Panel]) -> String {
    let width = panels.len() as f64 * WIDTH;
    let all = || panels.iter().flat_map(|panel| &panel.lines).flat_map(|line| &line.1);
    let vertical = Axis::over(all().map(|point| point.1));
    let size = format!(r#"width="{width}" height="{HEIGHT}""#);
    let view = format!(r#"viewBox="0 0 {width} {HEIGHT}" role="img" aria-label="{title}""#);
    let mut out = vec![
        format!(r#"<svg xmlns="http://www.w3.org/2000/svg" {size} {view}>"#),
        format!("  <style>\n    {STYLE}\n  </style>"),
        format!(r#"  <rect class="ground" {size} rx="6"/>"#),
        format!(r#"  <text class="title" x="{LEFT_MARGIN}" y="26">{title}</text>"#),
    ];
    for (number, panel) in panels.iter().enumerate() {
        out.push(format!(r#"  <g transform="translate({} 0)">"#, number as f64 * WIDTH));
        panel.draw(&mut out, y_label, vertical);
        out.push("  </g>".to_owned());
    }
    out.push("</svg>\n".to_owned());
    out.join("\n")
}

impl Panel {
    fn draw(&self, out: &mut Vec<String>, y_label: &str, vertical: Axis) {
        let horizontal = Axis::over(self.lines.iter().flat_map(|line| &line.1).map(|point| point.0));
        let x = |number| LEFT_MARGIN + horizontal.place(number) * (WIDTH - LEFT_MARGIN - RIGHT_MARGIN);
        let y = |number| HEIGHT - BOTTOM_MARGIN - vertical.place(number) * (HEIGHT - TOP_MARGIN - BOTTOM_MARGIN);
        let (left, right, top, bottom) = (LEFT_MARGIN, WIDTH - RIGHT_MARGIN, TOP_MARGIN, HEIGHT - BOTTOM_MARGIN);
        out.push(text(&format!(r#"x="{left}" y="{}""#, top - 36.0), &self.title));
        for mark in vertical.marks() {
            let at = y(mark);
            out.push(format!(r#"    <path class="grid" d="M{left} {at:.1}H{right}"/>"#));
            let place = format!(r#"x="{}" y="{:.1}" text-anchor="end""#, left - 8.0, at + 4.0);
            out.push(text(&place, &grouped(mark)));
        }
        for mark in horizontal.marks() {
            let at = x(mark);
            out.push(format!(r#"    <path class="grid" d="M{at:.1} {top}V{bottom}"/>"#));
            out.push(text(&format!(r#"x="{at:.1}" y="{}" text-anchor="middle""#, bottom + 18.0), &grouped(mark)));
        }
        out.push(format!(r#"    <path class="axis" d="M{left} {top}V{bottom}H{right}"/>"#));
        let (middle, below) = (f64::midpoint(left, right), HEIGHT - 14.0);
        out.push(text(&format!(r#"x="{middle}" y="{below}" text-anchor="middle""#), self.x_label));
        let turned = format!("translate(20 {}) rotate(-90)", f64::midpoint(top, bottom));
        out.push(text(&format!(r#"transform="{turned}" text-anchor="middle""#), y_label));
        for (number, (name, line)) in self.lines.iter().enumerate() {
            let points: Vec<_> = line.iter().map(|point| (x(point.0), y(point.1))).collect();
            let corners: Vec<_> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            out.push(format!(r#"    <polyline class="l{number}" points="{}"/>"#, corners.join(" ")));
            for (x, y) in &points {
                out.push(format!(r#"    <circle class="l{number}" cx="{x:.1}" cy="{y:.1}" r="3.5"/>"#));
            }
            if let Some((_, up)) = line.last() {
                let place = format!(r#"class="l{number}" x="{right}" y="{:.1}" text-anchor="end""#, y(*up) - 14.0);
                out.push(text(&place, &format!("{}: {}", name, grouped(up.round()))));
            }
        }
    }
}

fn text(attributes: &str, content: &str) -> String {
    format!("    <text {attributes}>{content}</text>")
}

/// Formats a number with separators: 100,000.
pub(crate) fn grouped(number: f64) -> String {
    if number < 1.0 {
        return number.to_string();
    }
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_thousands_separators() {
        assert_eq!([1.0, 1_000.0, 100_000.0, 0.1].map(grouped), ["1", "1,000", "100,000", "0.1"]);
    }

    #[test]
    fn axis_spans_its_numbers() {
        let axis = Axis::over([50.0, 90_000.0].into_iter());
        assert_eq!((axis.first, axis.last), (1, 5));
        assert!((axis.place(1_000.0) - 0.5).abs() < 1e-9);
    }
}
