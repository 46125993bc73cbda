//! One row a method: every repeat as a speck, their mean as a diamond.

use super::Measure;
use crate::figure::{Figure, Numbers};
use crate::numbers::{percent, short};
use crate::svg::{Anchor, Axis, Svg};
use kelfi_baselines::comparison::{Comparison, Measured, Row, Run};

const ROW: f64 = 26.0;
/// Room for names, at least and at most, and how much a letter takes.
const NAMES: (f64, f64) = (132.0, 196.0);
const LETTER: f64 = 5.9;
const RIGHT: f64 = 388.0;
const TOP: f64 = 10.0;
/// Specks are spread over so much of a row's height.
const JITTER: f64 = 12.0;

/// The figure of one measure at one budget; `None` where no run has it.
pub(super) fn strip(comparison: &Comparison, measure: &Measure, budget: usize) -> Option<Figure> {
    let values: Vec<Vec<(usize, f64)>> = comparison.methods.iter().map(|m| of_method(comparison, measure, &m.name, budget)).collect();
    if values.iter().all(Vec::is_empty) {
        return None;
    }
    let all = values.iter().flatten().map(|(_, v)| *v).chain(measure.ideal);
    let (low, high) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    let x = if measure.logarithmic {
        Axis::logarithmic(low / 1.15, high * 1.15, left(comparison), RIGHT)
    } else {
        let margin = 0.04 * (high - low).max(1e-9);
        Axis::new(low - margin, high + margin, left(comparison), RIGHT)
    };
    let (mut svg, mut numbers) = (Svg::new(400.0, TOP + ROW * values.len() as f64 + 44.0), Numbers::new(&["method", "repeat", "value"]));
    rows(&mut svg, comparison, &x, measure.axis);
    if let Some(ideal) = measure.ideal {
        svg.line("diagonal", x.at(ideal), TOP, x.at(ideal), bottom(comparison));
    }
    let mut means = vec![];
    for (k, (method, values)) in comparison.methods.iter().zip(&values).enumerate() {
        let y = middle(k);
        for (repeat, value) in values {
            numbers.named(&method.name, &[*repeat as f64, *value]);
            // The golden ratio spreads neighbours evenly, the same each time.
            let offset = JITTER * ((0.5 + 0.618_033_988_749_895 * *repeat as f64).fract() - 0.5);
            svg.disc("speck", x.at(*value), y + offset, 3.0, &format!("{}, repeat {}: {}", method.name, repeat + 1, short(*value)));
        }
        if let Some(mean) = mean_of(values) {
            mark(&mut svg, "truth-solid", &x, y, mean, &format!("{}: mean {}", method.name, super::measured(Some(mean))));
            means.push(format!("{} {}", method.name, short(mean.mean)));
        }
    }
    let description = format!("Means at {budget} simulations: {}.", means.join(", "));
    Some(Figure::new(measure.id, measure.title, measure.caption, description, false, &svg, &numbers))
}

/// How often the intervals of each method cover the truth.
pub(super) fn coverage(comparison: &Comparison, budget: usize) -> Option<Figure> {
    let rows_of: Vec<Row> = comparison.summary().into_iter().filter(|row| row.budget == budget).collect();
    if rows_of.iter().all(|row| row.covered_50.is_none()) {
        return None;
    }
    let x = Axis::new(0.0, 1.0, left(comparison), RIGHT);
    let mut svg = Svg::new(400.0, TOP + ROW * rows_of.len() as f64 + 44.0);
    rows(&mut svg, comparison, &x, "share of true values inside");
    let mut numbers = Numbers::new(&["method", "covered_50", "covered_50_standard_error", "covered_95", "covered_95_standard_error"]);
    for ideal in [0.5, 0.95] {
        svg.line("diagonal", x.at(ideal), TOP, x.at(ideal), bottom(comparison));
    }
    let mut said = vec![];
    for (k, row) in rows_of.iter().enumerate() {
        let (Some(half), Some(most)) = (row.covered_50, row.covered_95) else { continue };
        let error = |m: Measured| m.standard_error.unwrap_or(f64::NAN);
        numbers.named(&row.method, &[half.mean, error(half), most.mean, error(most)]);
        let tip = |size: &str, m: Measured| format!("{}: {size} intervals cover {}", row.method, percent(m.mean));
        mark(&mut svg, "posterior-solid", &x, middle(k) - 4.0, half, &tip("50 %", half));
        mark(&mut svg, "truth-solid", &x, middle(k) + 4.0, most, &tip("95 %", most));
        said.push(format!("{}: {} and {}", row.method, percent(half.mean), percent(most.mean)));
    }
    let caption = "Blue: 50 % intervals, orange: 95 % intervals, each with two standard errors; the dotted lines mark the nominal coverage. Left of its line an interval is too narrow, right of it wider than necessary.";
    let description = format!("Coverage of 50 % and 95 % intervals. {}.", said.join("; "));
    Some(Figure::new("coverage", "Do the intervals have the coverage they claim?", caption, description, false, &svg, &numbers))
}

fn of_method(comparison: &Comparison, measure: &Measure, method: &str, budget: usize) -> Vec<(usize, f64)> {
    comparison
        .runs_of(method, budget)
        .filter_map(|run: &Run| Some((run.repeat, (measure.of)(run)?)))
        .filter(|(_, v)| v.is_finite())
        .collect()
}

/// Mean with standard error.
pub(super) fn mean_of(values: &[(usize, f64)]) -> Option<Measured> {
    let n = values.len() as f64;
    let mean = values.iter().map(|(_, v)| v).sum::<f64>() / n;
    let variance = values.iter().map(|(_, v)| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let standard_error = (values.len() > 1).then(|| (variance / n).sqrt());
    (!values.is_empty()).then_some(Measured { mean, standard_error })
}

/// Where the axis begins: beside the longest name.
fn left(comparison: &Comparison) -> f64 {
    let longest = comparison.methods.iter().map(|method| method.name.chars().count()).max().unwrap_or(0);
    (LETTER * longest as f64 + 9.0).clamp(NAMES.0, NAMES.1)
}

fn middle(row: usize) -> f64 {
    TOP + ROW * (row as f64 + 0.5)
}

fn bottom(comparison: &Comparison) -> f64 {
    TOP + ROW * comparison.methods.len() as f64
}

/// Names of the methods, ticks and the axis.
fn rows(svg: &mut Svg, comparison: &Comparison, x: &Axis, axis: &str) {
    let (left, bottom) = (left(comparison), bottom(comparison));
    for (t, label) in x.labelled_ticks(4) {
        svg.line("grid", x.at(t), TOP, x.at(t), bottom + 4.0);
        svg.label("tick", x.at(t), bottom + 15.0, Anchor::Middle, &label, 9);
    }
    for (k, method) in comparison.methods.iter().enumerate() {
        svg.label("", left - 8.0, middle(k) + 4.0, Anchor::End, &method.name, ((left - 8.0) / LETTER) as usize);
    }
    svg.line("axis", left, bottom, RIGHT, bottom);
    svg.label("name", RIGHT, bottom + 33.0, Anchor::End, axis, 64);
}

/// A diamond at the mean and a bar of two standard errors either way.
fn mark(svg: &mut Svg, class: &str, x: &Axis, y: f64, mean: Measured, tip: &str) {
    if let Some(error) = mean.standard_error {
        svg.line("axis", x.inside(mean.mean - 2.0 * error), y, x.inside(mean.mean + 2.0 * error), y);
    }
    svg.diamond(class, x.inside(mean.mean), y, 5.5, tip);
}
