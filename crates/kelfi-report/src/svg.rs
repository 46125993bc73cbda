//! A small SVG writer: shapes with classes, labels that fit, axes with round ticks, and values to hover over.
//!
//! Ours rather than plotters', which draws the experiments' figures: a report's figures follow the page's colours, light and dark, by classes,
//! and show values where a pointer rests.

use crate::numbers::short;
use std::fmt::Write;

/// Text safe inside XML and HTML, attributes included; control characters, which XML forbids, become spaces, and marks that
/// turn the direction of writing are written out.
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => safe.push(' '),
            c if kelfi::words::acts(c) => safe.push_str(&kelfi::words::shown(c.encode_utf8(&mut [0; 4]))),
            c => safe.push(c),
        }
    }
    safe
}

/// At most `most` characters, the end cut off with an ellipsis.
pub fn fit(text: &str, most: usize) -> String {
    if text.chars().count() <= most { text.to_string() } else { text.chars().take(most.saturating_sub(1)).chain(['…']).collect() }
}

/// A drawing under construction.
#[derive(Debug, Clone)]
pub struct Svg {
    /// Width in user units (CSS pixels at full size).
    pub width: f64,
    /// Height.
    pub height: f64,
    body: String,
}

/// Where a label is anchored.
#[derive(Debug, Clone, Copy)]
pub enum Anchor {
    /// Its start.
    Start,
    /// Its middle.
    Middle,
    /// Its end.
    End,
}

impl Svg {
    /// An empty drawing.
    pub fn new(width: f64, height: f64) -> Self {
        Self { width, height, body: String::new() }
    }

    /// What is drawn, without the surrounding element.
    pub fn body(&self) -> &str {
        &self.body
    }

    /// A straight line.
    pub fn line(&mut self, class: &str, x1: f64, y1: f64, x2: f64, y2: f64) {
        let _ = write!(self.body, r#"<line class="{class}" x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}"/>"#);
    }

    /// A rectangle with a value to hover over, if not empty.
    pub fn rect(&mut self, class: &str, x: f64, y: f64, width: f64, height: f64, tip: &str) {
        let (width, height) = (width.max(0.0), height.max(0.0));
        let _ = write!(self.body, r#"<rect class="{class}" x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}""#);
        self.close("rect", tip);
    }

    /// A disc with a value to hover over.
    pub fn disc(&mut self, class: &str, x: f64, y: f64, radius: f64, tip: &str) {
        let _ = write!(self.body, r#"<circle class="{class}" cx="{x:.1}" cy="{y:.1}" r="{radius:.1}""#);
        self.close("circle", tip);
    }

    /// A diamond, to be told from a disc without colour.
    pub fn diamond(&mut self, class: &str, x: f64, y: f64, radius: f64, tip: &str) {
        let (l, r, t, b) = (x - radius, x + radius, y - radius, y + radius);
        let _ = write!(self.body, r#"<path class="{class}" d="M{l:.1} {y:.1}L{x:.1} {t:.1}L{r:.1} {y:.1}L{x:.1} {b:.1}Z""#);
        self.close("path", tip);
    }

    /// A path from its commands.
    pub fn path(&mut self, class: &str, commands: &str) {
        let _ = write!(self.body, r#"<path class="{class}" d="{commands}"/>"#);
    }

    /// A line through the points; gaps where a coordinate is not finite.
    pub fn polyline(&mut self, class: &str, points: &[(f64, f64)]) {
        let mut commands = String::new();
        let mut pen_down = false;
        for (x, y) in points {
            let finite = x.is_finite() && y.is_finite();
            if finite {
                let _ = write!(commands, "{}{x:.1} {y:.1}", if pen_down { 'L' } else { 'M' });
            }
            pen_down = finite;
        }
        self.path(class, &commands);
    }

    /// The area between the points and a level.
    pub fn area(&mut self, class: &str, points: &[(f64, f64)], level: f64) {
        let (Some(first), Some(last)) = (points.first(), points.last()) else { return };
        let mut commands = format!("M{:.1} {level:.1}", first.0);
        points.iter().for_each(|(x, y)| {
            let _ = write!(commands, "L{x:.1} {y:.1}");
        });
        let _ = write!(commands, "L{:.1} {level:.1}Z", last.0);
        self.path(class, &commands);
    }

    /// A label that reads upwards, centred at this point.
    pub fn turned(&mut self, class: &str, x: f64, y: f64, text: &str, most: usize) {
        let _ = write!(self.body, r#"<g transform="translate({x:.1} {y:.1}) rotate(-90)">"#);
        self.label(class, 0.0, 0.0, Anchor::Middle, text, most);
        self.body.push_str("</g>");
    }

    /// A label, cut to `most` characters; the whole text shows on hovering.
    pub fn label(&mut self, class: &str, x: f64, y: f64, anchor: Anchor, text: &str, most: usize) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let shown = fit(text, most);
        let tip = if shown == text { String::new() } else { format!("<title>{}</title>", escape(text)) };
        let _ = write!(self.body, r#"<text class="{class}" x="{x:.1}" y="{y:.1}" text-anchor="{anchor}">{tip}{}</text>"#, escape(&shown));
    }

    /// Another drawing moved to (x, y).
    pub fn place(&mut self, other: &Svg, x: f64, y: f64) {
        let _ = write!(self.body, r#"<g transform="translate({x:.1} {y:.1})">{}</g>"#, other.body);
    }

    fn close(&mut self, name: &str, tip: &str) {
        if tip.is_empty() {
            self.body.push_str("/>");
        } else {
            let _ = write!(self.body, "><title>{}</title></{name}>", escape(tip));
        }
    }
}

/// A mapping from values to positions, straight or logarithmic.
#[derive(Debug, Clone, Copy)]
pub struct Axis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    logarithmic: bool,
}

impl Axis {
    /// Values low..high to positions from..to. An empty or broken range is widened around its middle.
    pub fn new(low: f64, high: f64, from: f64, to: f64) -> Self {
        let (low, high) = widen(low, high);
        Self { low, high, from, to, logarithmic: false }
    }

    /// The same on a logarithmic scale; values must be positive.
    pub fn logarithmic(low: f64, high: f64, from: f64, to: f64) -> Self {
        let (low, high) = widen(low.max(1e-300).ln(), high.max(1e-300).ln());
        Self { low: low.exp(), high: high.exp(), from, to, logarithmic: true }
    }

    /// Position of a value.
    pub fn at(&self, value: f64) -> f64 {
        let share = if self.logarithmic {
            (value.max(1e-300) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.from + share * (self.to - self.from)
    }

    /// Position of a value, kept inside the axis.
    pub fn inside(&self, value: f64) -> f64 {
        self.at(value).clamp(self.from.min(self.to), self.from.max(self.to))
    }

    /// Round values to mark.
    pub fn ticks(&self, about: usize) -> Vec<f64> {
        let decades = (self.high / self.low).log10();
        if self.logarithmic && decades > 0.8 {
            let factors: &[f64] = if decades > 2.5 { &[1.0] } else { &[1.0, 2.0, 5.0] };
            let first = self.low.log10().floor() as i32;
            let skip = (decades / about.max(1) as f64).round().max(1.0) as i32;
            return (first..=self.high.log10().ceil() as i32)
                .filter(|power| (power - first) % skip == 0)
                .flat_map(|power| factors.iter().map(move |f| f * 10_f64.powi(power)))
                .filter(|t| (self.low..=self.high).contains(t))
                .collect();
        }
        let raw = (self.high - self.low) / about.max(1) as f64;
        let power = 10_f64.powf(raw.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|f| f * power).into_iter().find(|s| *s >= raw).unwrap_or(raw);
        let first = (self.low / step).ceil() as i64;
        (0..=2 * about as i64).map(|k| (first + k) as f64 * step).filter(|t| *t <= self.high + 1e-9 * step).collect()
    }

    /// Ticks with their labels: about so many, and at least two where round numbers allow it.
    pub fn labelled_ticks(&self, about: usize) -> Vec<(f64, String)> {
        let ticks = (about..about + 5).map(|about| self.ticks(about)).find(|ticks| ticks.len() >= 2).unwrap_or_else(|| self.ticks(about));
        let step = if self.logarithmic { f64::NAN } else { ticks.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min) };
        let largest = ticks.iter().fold(0.0_f64, |largest, tick| largest.max(tick.abs()));
        ticks.into_iter().map(|tick| (tick, tick_label(tick, step, largest))).collect()
    }
}

/// A tick with as many decimals as the step between ticks needs.
fn tick_label(value: f64, step: f64, largest: f64) -> String {
    if !(step.is_finite() && (1e-4..1e6).contains(&largest)) {
        return short(value);
    }
    let decimals = (-(step * (1.0 + 1e-9)).log10().floor()).max(0.0) as usize;
    // A tick at zero is not a tiny number that rounding left.
    format!("{:.decimals$}", if value.abs() < 1e-9 * step { 0.0 } else { value })
}

fn widen(low: f64, high: f64) -> (f64, f64) {
    if !(low.is_finite() && high.is_finite()) {
        return (0.0, 1.0);
    }
    let least = 1e-9 * low.abs().max(high.abs()).max(1e-12);
    if high - low > least { (low, high) } else { (low - 0.5 * least.max(0.1 * low.abs()), high + 0.5 * least.max(0.1 * high.abs())) }
}

/// A frame with axes: the inside of a chart.
#[derive(Debug, Clone)]
pub struct Frame {
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// Left, top, right, bottom.
    pub edges: [f64; 4],
}

impl Frame {
    /// Draws ticks, grid lines and the names of the axes.
    pub fn draw(&self, svg: &mut Svg, x_name: &str, y_name: &str) {
        let [left, top, right, bottom] = self.edges;
        for (t, label) in self.y.labelled_ticks(4) {
            let y = self.y.at(t);
            svg.line("grid", left, y, right, y);
            svg.label("tick", left - 5.0, y + 3.5, Anchor::End, &label, 9);
        }
        for (t, label) in self.x.labelled_ticks(5) {
            let x = self.x.at(t);
            svg.line("grid", x, bottom, x, bottom + 4.0);
            svg.label("tick", x, bottom + 15.0, Anchor::Middle, &label, 9);
        }
        svg.line("axis", left, bottom, right, bottom);
        svg.label("name", 0.5 * (left + right), bottom + 31.0, Anchor::Middle, x_name, 52);
        svg.label("name", 2.0, top - 8.0, Anchor::Start, y_name, 52);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_label_can_leave_it() {
        let mut svg = Svg::new(10.0, 10.0);
        svg.label("a", 0.0, 0.0, Anchor::Start, "<script>\"'&\u{0}", 50);
        svg.rect("a", 0.0, 0.0, 1.0, 1.0, "</title><script>");
        assert!(svg.body().contains("&lt;script&gt;&quot;&#39;&amp; </text>"), "{}", svg.body());
        assert!(!svg.body().contains("<script>"));
    }

    #[test]
    fn labels_of_ticks_are_round_numbers_at_least_two_of_them() {
        let labels = |low: f64, high: f64, about: usize| -> Vec<String> {
            Axis::new(low, high, 0.0, 100.0).labelled_ticks(about).into_iter().map(|(_, label)| label).collect()
        };
        assert_eq!(labels(-0.31, 0.72, 3), ["0.0", "0.5"]);
        assert_eq!(labels(1234.1, 1234.9, 2), ["1234.2", "1234.4", "1234.6", "1234.8"]);
        assert_eq!(labels(0.0, 3e-7, 3), ["0", "1e-7", "2e-7", "3e-7"]);
        assert_eq!(labels(2.46, 3.49, 2), ["2.5", "3.0"]);
    }

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(Axis::new(0.0, 1.0, 0.0, 100.0).ticks(5), vec![0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        assert_eq!(Axis::logarithmic(0.5, 600.0, 0.0, 100.0).ticks(5), vec![1.0, 10.0, 100.0]);
        assert_eq!(Axis::new(3.0, 3.0, 0.0, 10.0).at(3.0), 5.0);
    }
}
