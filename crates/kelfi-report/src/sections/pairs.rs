//! The pair plot: one-dimensional marginals with the prior, two-dimensional contours with samples, the truth where it is known.

use super::contours::Grid;
use super::parameters::Parameter;
use crate::figure::{Figure, Numbers};
use crate::inputs::ReportInputs;
use crate::numbers::{number, percent, short};
use crate::section::Section;
use crate::svg::{Anchor, Axis, Svg};
use kelfi::Points;
use kelfi::posterior::Line;
use kelfi::samples::independent;
use std::fmt::Write;

/// Parameters shown at most.
const SHOWN: usize = 8;
const POINTS_SHOWN: usize = 200;
const SAMPLES: usize = 1_000;
const GRID: usize = 40;
const CURVE: usize = 120;
const STRIPS: usize = 24;

struct Shown<'a> {
    d: usize,
    parameter: &'a Parameter,
    line: Line,
    low: f64,
    high: f64,
}

/// The section.
pub fn section(inputs: &ReportInputs<'_>, parameters: &[Parameter]) -> Result<Section, kelfi::Error> {
    let title = if parameters.len() == 1 { "What does the posterior look like?" } else { "How do the parameters depend on each other?" };
    let mut section = Section::new("pairs", title);
    let shown = shown(inputs, parameters)?;
    if shown.len() < parameters.len() {
        section.text(format!(
            "Shown are the {1} of {0} parameters about which the observation says most; the table above has all of them.",
            parameters.len(),
            shown.len()
        ));
    }
    let samples = match &inputs.samples {
        Some(samples) => samples.clone(),
        None => independent(&inputs.fit.posterior, SAMPLES, inputs.settings.learn.seed)?.samples,
    };
    section.figures(vec![pair_plot(inputs, &shown, &samples)?]);
    Ok(section)
}

/// The most informed parameters, in their own order, with the window each is drawn in.
fn shown<'a>(inputs: &ReportInputs<'_>, parameters: &'a [Parameter]) -> Result<Vec<Shown<'a>>, kelfi::Error> {
    let mut order: Vec<usize> = (0..parameters.len()).collect();
    order.sort_by(|&i, &j| parameters[i].left.total_cmp(&parameters[j].left));
    order.truncate(SHOWN);
    order.sort_unstable();
    let prior = inputs.fit.posterior.prior();
    let one = |d: usize| {
        let line = inputs.fit.posterior.line(d)?;
        let (mut low, mut high) = (line.quantile(prior, 0.002)?, line.quantile(prior, 0.998)?);
        if let Some(truth) = inputs.true_value(d) {
            (low, high) = (low.min(truth), high.max(truth));
        }
        let margin = 0.08 * (high - low).max(1e-12 * high.abs());
        // Beyond the prior's support there is nothing to draw.
        let (first, last) = (parameters[d].prior.quantile(1e-6), parameters[d].prior.quantile(1.0 - 1e-6));
        Ok(Shown { d, parameter: &parameters[d], line, low: (low - margin).max(first.min(low)), high: (high + margin).min(last.max(high)) })
    };
    order.into_iter().map(one).collect()
}

fn pair_plot(inputs: &ReportInputs<'_>, shown: &[Shown<'_>], samples: &Points) -> Result<Figure, kelfi::Error> {
    let count = shown.len();
    let cell = if count <= 2 { 230.0 } else { (860.0 / count as f64).clamp(112.0, 190.0) };
    let (left, top) = (66.0, 12.0);
    let ticks = if cell < 150.0 { 2 } else { 3 };
    let mut svg = Svg::new(left + count as f64 * cell + 8.0, top + count as f64 * cell + 40.0);
    for (row, b) in shown.iter().enumerate() {
        for (column, a) in shown.iter().enumerate().take(row + 1) {
            let panel = if row == column { marginal(inputs, a, cell - 10.0)? } else { joint(inputs, a, b, samples, cell - 10.0)? };
            svg.place(&panel, left + column as f64 * cell, top + row as f64 * cell);
        }
        let middle = top + row as f64 * cell + 0.5 * (cell - 10.0);
        if row > 0 {
            let y = Axis::new(b.low, b.high, cell - 10.0, 0.0);
            for (value, label) in y.labelled_ticks(ticks) {
                let at = top + row as f64 * cell + y.at(value);
                svg.line("axis", left - 4.0, at, left, at);
                svg.label("tick", left - 6.0, at + 3.5, Anchor::End, &label, 9);
            }
            svg.turned("strong", 12.0, middle, &b.parameter.name, (cell / 7.0) as usize);
        }
        let x = left + row as f64 * cell;
        let bottom = top + count as f64 * cell;
        let axis = Axis::new(b.low, b.high, 0.0, cell - 10.0);
        for (value, label) in axis.labelled_ticks(ticks) {
            svg.line("axis", x + axis.at(value), bottom - 10.0, x + axis.at(value), bottom - 6.0);
            svg.label("tick", x + axis.at(value), bottom + 5.0, Anchor::Middle, &label, 9);
        }
        svg.label("strong", x + 0.5 * (cell - 10.0), bottom + 24.0, Anchor::Middle, &b.parameter.name, (cell / 7.0) as usize);
    }
    let names: Vec<String> = shown.iter().map(|s| s.parameter.name.clone()).collect();
    let mut numbers = Numbers::new(&names);
    for sample in samples.iter().take(SAMPLES) {
        numbers.values(&shown.iter().map(|s| sample[s.d]).collect::<Vec<_>>());
    }
    let describe = |s: &Shown<'_>| {
        format!(
            "{} lies between {} and {} with 95 % probability",
            s.parameter.name,
            number(s.parameter.quantiles[0]),
            number(s.parameter.quantiles[4])
        )
    };
    let description = format!("Marginal and joint posterior densities. {}.", shown.iter().map(describe).collect::<Vec<_>>().join("; "));
    let caption = if inputs.truth.is_some() {
        "Diagonal: posterior (filled) over prior (dashed). Below: regions that hold 50 % (inner line) and 95 % (outer line) of the posterior, with samples. Orange: the truth. The CSV has the samples."
    } else {
        "Diagonal: posterior (filled) over prior (dashed). Below: regions that hold 50 % (inner line) and 95 % (outer line) of the posterior, with samples. The CSV has the samples."
    };
    Ok(Figure::new("pair-plot", "Posterior of each parameter and each pair", caption, description, count > 2, &svg, &numbers))
}

fn marginal(inputs: &ReportInputs<'_>, s: &Shown<'_>, size: f64) -> Result<Svg, kelfi::Error> {
    let prior = inputs.fit.posterior.prior();
    let value = |k: usize| s.low + (s.high - s.low) * k as f64 / CURVE as f64;
    let density = |v: f64| s.line.density(prior, v);
    let curve: Vec<(f64, f64)> = (0..=CURVE).map(|k| Ok((value(k), density(value(k))?))).collect::<Result<_, kelfi::Error>>()?;
    let before: Vec<(f64, f64)> = (0..=CURVE).map(|k| (value(k), s.parameter.prior.density(value(k)))).collect();
    let top = curve.iter().map(|p| p.1).filter(|v| v.is_finite()).fold(0.0_f64, f64::max).max(1e-300);
    let (x, y) = (Axis::new(s.low, s.high, 0.0, size), Axis::new(0.0, 1.08 * top, size, 0.0));
    let place = |points: &[(f64, f64)]| -> Vec<(f64, f64)> { points.iter().map(|p| (x.at(p.0), y.inside(p.1))).collect() };
    let mut svg = Svg::new(size, size);
    svg.area("posterior-fill", &place(&curve), size);
    svg.polyline("posterior", &place(&curve));
    svg.polyline("prior", &place(&before));
    if let Some(truth) = inputs.true_value(s.d) {
        svg.line("truth", x.at(truth), 0.0, x.at(truth), size);
    }
    svg.line("axis", 0.0, size, size, size);
    for k in 0..STRIPS {
        let v = s.low + (s.high - s.low) * (k as f64 + 0.5) / STRIPS as f64;
        let below = s.line.cdf(prior, v)?;
        let tip = format!(
            "{} = {}: density {} (prior {}), {} of the posterior lies below",
            s.parameter.name,
            short(v),
            short(density(v)?),
            short(s.parameter.prior.density(v)),
            percent(below)
        );
        svg.rect("hit", size * k as f64 / STRIPS as f64, 0.0, size / STRIPS as f64, size, &tip);
    }
    Ok(svg)
}

fn joint(inputs: &ReportInputs<'_>, a: &Shown<'_>, b: &Shown<'_>, samples: &Points, size: f64) -> Result<Svg, kelfi::Error> {
    let (x, y) = (Axis::new(a.low, a.high, 0.0, size), Axis::new(b.low, b.high, size, 0.0));
    let mut svg = Svg::new(size, size);
    let correlation = correlation(samples, a.d, b.d);
    let tip = format!("{} and {}: correlation of the samples {}", a.parameter.name, b.parameter.name, short(correlation));
    svg.rect("frame", 0.0, 0.0, size, size, "");
    let mut dots = String::new();
    for sample in samples.iter().take(POINTS_SHOWN) {
        let (px, py) = (x.at(sample[a.d]), y.at(sample[b.d]));
        if (0.0..=size).contains(&px) && (0.0..=size).contains(&py) {
            let _ = write!(dots, "M{px:.1} {py:.1}h0");
        }
    }
    svg.path("samples", &dots);
    let step = |low: f64, high: f64, k: usize| low + (high - low) * (k as f64 + 0.5) / GRID as f64;
    let pairs: Vec<[f64; 2]> = (0..GRID * GRID).map(|k| [step(a.low, a.high, k % GRID), step(b.low, b.high, k / GRID)]).collect();
    // Models without a closed form show their samples only.
    if let Ok(values) = inputs.fit.posterior.pair_marginal(a.d, b.d, &Points::from_rows(&pairs)?) {
        let grid = Grid { values: &values, columns: GRID };
        let at = |u: f64, v: f64| ((u + 0.5) / GRID as f64 * size, size - (v + 0.5) / GRID as f64 * size);
        svg.path("outer", &grid.contour(grid.level(0.95), at));
        svg.path("posterior", &grid.contour(grid.level(0.5), at));
    }
    if let (Some(p), Some(q)) = (inputs.true_value(a.d), inputs.true_value(b.d)) {
        svg.line("truth", x.at(p), 0.0, x.at(p), size);
        svg.line("truth", 0.0, y.at(q), size, y.at(q));
    }
    svg.rect("hit", 0.0, 0.0, size, size, &tip);
    Ok(svg)
}

fn correlation(samples: &Points, a: usize, b: usize) -> f64 {
    let n = samples.rows().max(1) as f64;
    let mean = |d: usize| samples.iter().map(|s| s[d]).sum::<f64>() / n;
    let (ma, mb) = (mean(a), mean(b));
    let moment = |f: &dyn Fn(&[f64]) -> f64| samples.iter().map(f).sum::<f64>();
    let product = moment(&|s| (s[a] - ma) * (s[b] - mb));
    product / (moment(&|s| (s[a] - ma).powi(2)) * moment(&|s| (s[b] - mb).powi(2))).sqrt()
}
