//! What would more simulations buy? ε and posterior width against the number of simulations, re-learned on subsets.

use super::parameters::Parameter;
use crate::figure::{Figure, Numbers};
use crate::inputs::ReportInputs;
use crate::numbers::{percent, short};
use crate::section::Section;
use crate::svg::{Axis, Frame, Svg};
use kelfi::posterior::summary::PROBABILITIES;
use kelfi::{Inference, Recorded};
use std::sync::Arc;

/// Fewer simulations are not learned from.
const FEWEST: usize = 25;
const REFITS: usize = 3;

/// What one number of simulations gave.
#[derive(Debug, Clone, Copy)]
struct Fit {
    simulations: f64,
    /// Geometric mean of ε over spread.
    epsilon: f64,
    /// Geometric mean over parameters of the 95 % width over the prior's.
    width: f64,
    score: f64,
}

/// The section.
pub fn section(inputs: &ReportInputs<'_>, parameters: &[Parameter]) -> Section {
    let mut section = Section::new("budget", "What would more simulations buy?");
    let fits = fits(inputs, parameters);
    if fits.len() < 3 {
        section.text(format!("There are too few subsets of between {FEWEST} and {} simulations to see a trend.", inputs.largest_refit));
        return section;
    }
    let (epsilon, width) = (slope(&fits, |f| f.epsilon), slope(&fits, |f| f.width));
    let gain = |slope: f64, factor: f64| 1.0 - factor.powf(slope.min(0.0));
    section.text(format!(
        "The first {} were learned from afresh. {} On the same trend, twice as many simulations would narrow the 95 % intervals by about {}, four times as many by about {}, and lower the tolerances by about {} and {}. This is a straight line through {} points on logarithmic axes: a guide, not a promise.",
        fits.iter().take(fits.len() - 1).map(|f| short(f.simulations)).collect::<Vec<_>>().join(", "),
        if width > -0.05 { "Intervals hardly narrow any more: what is left is mostly what the statistics cannot tell." } else { "Intervals still narrow." },
        percent(gain(width, 2.0)),
        percent(gain(width, 4.0)),
        percent(gain(epsilon, 2.0)),
        percent(gain(epsilon, 4.0)),
        fits.len(),
    ));
    let mut numbers = Numbers::new(&["simulations", "mean_relative_epsilon", "mean_width_over_prior", "leave_one_out_score"]);
    fits.iter().for_each(|f| numbers.values(&[f.simulations, f.epsilon, f.width, f.score]));
    let figure = |id: &str, title: &str, name: &str, of: fn(&Fit) -> f64, slope: f64| {
        let description = format!(
            "From {} at {} simulations to {} at {}.",
            short(of(&fits[0])),
            short(fits[0].simulations),
            short(of(&fits[fits.len() - 1])),
            short(fits[fits.len() - 1].simulations)
        );
        Figure::new(
            id,
            title,
            "Dashed: the trend, continued to four times as many simulations.",
            description,
            false,
            &draw(&fits, of, slope.min(0.0), name),
            &numbers,
        )
    };
    section.figures(vec![
        figure("width-by-simulations", "Width of the 95 % intervals", "width over the prior's (geometric mean)", |f| f.width, width),
        figure("epsilon-by-simulations", "Tolerance ε", "ε over the spread of its statistic (geometric mean)", |f| f.epsilon, epsilon),
    ]);
    section
}

/// An eighth, a quarter, a half and all of the simulations; subsets are the first ones, as parameters come in random order.
fn fits(inputs: &ReportInputs<'_>, parameters: &[Parameter]) -> Vec<Fit> {
    let Recorded::Statistics(simulations) = inputs.inference.model.recorded() else { return vec![] };
    let total = simulations.len();
    let mut sizes: Vec<usize> =
        (1..).map(|k| total >> k).take_while(|&m| m >= FEWEST).filter(|&m| m <= inputs.largest_refit).take(REFITS).collect();
    sizes.reverse();
    let refit = |m: &usize| {
        let subset = Recorded::Statistics(Arc::new(simulations.select(&(0..*m).collect::<Vec<_>>()).ok()?));
        let prior = inputs.inference.posterior.prior();
        let found = Inference::new(&subset, inputs.observation, prior, inputs.settings, &mut |_| true).ok()?;
        measure(&found, parameters, *m)
    };
    let mut fits: Vec<Fit> = sizes.iter().filter_map(refit).collect();
    fits.extend(measure(inputs.inference, parameters, total));
    fits
}

fn measure(inference: &Inference, parameters: &[Parameter], simulations: usize) -> Option<Fit> {
    let active = inference.learned.statistics.iter().filter(|s| s.scale.dropped.is_none());
    let logs: Vec<f64> = active.map(|s| s.relative_epsilon.ln()).collect();
    let mut widths = 0.0;
    for (d, p) in parameters.iter().enumerate() {
        let ends = inference.posterior.quantile(d, &[PROBABILITIES[0], PROBABILITIES[4]]).ok()?;
        widths += ((ends[1] - ends[0]) / (p.prior_quantiles[4] - p.prior_quantiles[0])).ln();
    }
    Some(Fit {
        simulations: simulations as f64,
        epsilon: (logs.iter().sum::<f64>() / logs.len().max(1) as f64).exp(),
        width: (widths / parameters.len() as f64).exp(),
        score: inference.learned.score.unwrap_or(f64::NAN),
    })
}

/// Slope of the least-squares line of ln value on ln simulations.
fn slope(fits: &[Fit], of: impl Fn(&Fit) -> f64) -> f64 {
    let points: Vec<(f64, f64)> = fits.iter().map(|f| (f.simulations.ln(), of(f).ln())).collect();
    let n = points.len() as f64;
    let (mx, my) = (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
    points.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum::<f64>() / points.iter().map(|p| (p.0 - mx).powi(2)).sum::<f64>()
}

fn draw(fits: &[Fit], of: impl Fn(&Fit) -> f64, slope: f64, name: &str) -> Svg {
    let mut svg = Svg::new(400.0, 250.0);
    let last = fits[fits.len() - 1];
    let ahead: Vec<(f64, f64)> = [1.0_f64, 2.0, 4.0].map(|f| (last.simulations * f, of(&last) * f.powf(slope))).to_vec();
    let values: Vec<f64> = fits.iter().map(&of).chain(ahead.iter().map(|a| a.1)).collect();
    let (low, high) = values.iter().fold((f64::INFINITY, 0.0_f64), |(l, h), v| (l.min(*v), h.max(*v)));
    let edges = [50.0, 28.0, 385.0, 205.0];
    let frame = Frame {
        x: Axis::logarithmic(fits[0].simulations * 0.85, last.simulations * 4.4, edges[0], edges[2]),
        y: Axis::logarithmic(low / 1.2, high * 1.2, edges[3], edges[1]),
        edges,
    };
    frame.draw(&mut svg, "simulations", name);
    let place = |m: f64, v: f64| (frame.x.at(m), frame.y.at(v));
    svg.polyline("posterior", &fits.iter().map(|f| place(f.simulations, of(f))).collect::<Vec<_>>());
    svg.polyline("ahead", &ahead.iter().map(|a| place(a.0, a.1)).collect::<Vec<_>>());
    for f in fits {
        let (x, y) = place(f.simulations, of(f));
        svg.disc("posterior-solid", x, y, 4.0, &format!("{} simulations: {}", short(f.simulations), short(of(f))));
    }
    for a in &ahead[1..] {
        let (x, y) = place(a.0, a.1);
        svg.disc("prior-solid", x, y, 4.0, &format!("{} simulations: about {} expected", short(a.0), short(a.1)));
    }
    svg
}
