//! What would more simulations improve? Posterior width with ε or the score against the number of simulations, re-learned on subsets.

use super::parameters::Parameter;
use super::verdict::sentence;
use crate::figure::{Figure, Numbers};
use crate::inputs::ReportInputs;
use crate::numbers::{percent, short};
use crate::section::Section;
use crate::svg::{Axis, Frame, Svg};
use kelfi::posterior::summary::PROBABILITIES;
use kelfi::{Fit, FitOptions, ModelChoice};

/// Fewer simulations are not learned from.
const FEWEST: usize = 25;
const REFITS: usize = 3;

/// What one number of simulations gave.
#[derive(Debug, Clone, Copy)]
struct Refit {
    simulations: f64,
    /// Geometric mean of ε over spread.
    epsilon: f64,
    /// Geometric mean over parameters of the 95 % width over the prior's.
    width: f64,
    score: f64,
}

/// The section.
pub fn section(inputs: &ReportInputs<'_>, parameters: &[Parameter]) -> Section {
    let mut section = Section::new("budget", "What would more simulations improve?");
    if let Some(steadiness) = inputs.fit.steadiness() {
        section.text(format!("{} This is estimated by fitting halves of the simulations separately.", sentence(&steadiness.statement())));
    }
    if inputs.fit.history().is_some() {
        section.text("The rounds above show how the posterior moved as simulations were added.");
        return section;
    }
    let fits = fits(inputs, parameters);
    if fits.len() < 3 {
        section.text(format!("There are too few subsets with {FEWEST} to {} simulations to see a trend.", inputs.largest_refit));
        return section;
    }
    let (epsilon, width) = (slope(&fits, |f| f.epsilon), slope(&fits, |f| f.width));
    let gain = |slope: f64, factor: f64| 1.0 - factor.powf(slope.min(0.0));
    // A tolerance chosen among a few has no trend; the score has.
    let (tolerances, second) = match inputs.fit.model.family().words.tolerances_have_a_trend {
        true => (
            format!(", and lower the tolerances by about {} and {}", percent(gain(epsilon, 2.0)), percent(gain(epsilon, 4.0))),
            Shown {
                id: "epsilon-by-simulations",
                title: "Tolerance ε",
                name: "ε over the spread of its statistic (geometric mean)",
                of: |f| f.epsilon,
                slope: Some(epsilon),
            },
        ),
        false => (
            String::new(),
            Shown {
                id: "score-by-simulations",
                title: "Leave-one-out posterior score",
                name: "nats over the prior",
                of: |f| f.score,
                slope: None,
            },
        ),
    };
    let first = Shown {
        id: "width-by-simulations",
        title: "Width of the 95 % intervals",
        name: "width over the prior's (geometric mean)",
        of: |f| f.width,
        slope: Some(width),
    };
    section.text(format!(
        "{} If the trend continues, twice as many simulations would narrow the 95 % intervals by about {}, four times as many by about {}{}.",
        if width > -0.05 { "Intervals hardly get narrower." } else { "Intervals are still getting narrower." },
        percent(gain(width, 2.0)),
        percent(gain(width, 4.0)),
        tolerances,
    ));
    section.method(format!(
        "The model was fitted again to the first {} simulations. The trend is a straight line through {} points on logarithmic axes: a guide, not a promise.",
        fits.iter().take(fits.len() - 1).map(|f| short(f.simulations)).collect::<Vec<_>>().join(", "),
        fits.len(),
    ));
    let mut numbers = Numbers::new(&["simulations", "mean_relative_epsilon", "mean_width_over_prior", "leave_one_out_score"]);
    fits.iter().for_each(|f| numbers.values(&[f.simulations, f.epsilon, f.width, f.score]));
    section.figures(vec![first.figure(&fits, &numbers), second.figure(&fits, &numbers)]);
    section
}

/// A number drawn against simulations; continued along a slope on logarithmic axes, if it has one.
struct Shown {
    id: &'static str,
    title: &'static str,
    /// Name of the axis.
    name: &'static str,
    of: fn(&Refit) -> f64,
    slope: Option<f64>,
}

impl Shown {
    fn figure(&self, fits: &[Refit], numbers: &Numbers) -> Figure {
        let (first, last) = (&fits[0], &fits[fits.len() - 1]);
        let description = format!(
            "From {} at {} simulations to {} at {}.",
            short((self.of)(first)),
            short(first.simulations),
            short((self.of)(last)),
            short(last.simulations)
        );
        let caption = match self.slope {
            Some(_) => "Dashed: the trend, continued to four times as many simulations.",
            None => {
                "Posterior over prior density at the true parameters of simulations near the observation, each left out. Higher is better; every subset uses its own simulations, so small dips mean nothing."
            }
        };
        Figure::new(self.id, self.title, caption, description, false, &self.draw(fits), numbers)
    }

    fn draw(&self, fits: &[Refit]) -> Svg {
        let mut svg = Svg::new(400.0, 250.0);
        let (of, last) = (self.of, fits[fits.len() - 1]);
        let continued = |slope: f64| [1.0_f64, 2.0, 4.0].map(|f| (last.simulations * f, of(&last) * f.powf(slope.min(0.0)))).to_vec();
        let ahead: Vec<(f64, f64)> = self.slope.map_or(vec![], continued);
        let values = fits.iter().map(of).chain(ahead.iter().map(|a| a.1)).filter(|v| v.is_finite());
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        let edges = [50.0, 28.0, 385.0, 205.0];
        let farthest = ahead.last().map_or(last.simulations, |a| a.0);
        let x = Axis::logarithmic(fits[0].simulations * 0.85, farthest * 1.1, edges[0], edges[2]);
        let y = match self.slope {
            Some(_) => Axis::logarithmic(low / 1.2, high * 1.2, edges[3], edges[1]),
            None => Axis::new(low - 0.1 * (high - low), high + 0.1 * (high - low), edges[3], edges[1]),
        };
        let frame = Frame { x, y, edges };
        frame.draw(&mut svg, "simulations", self.name);
        let place = |m: f64, v: f64| (frame.x.at(m), frame.y.at(v));
        svg.polyline("posterior", &fits.iter().map(|f| place(f.simulations, of(f))).collect::<Vec<_>>());
        svg.polyline("ahead", &ahead.iter().map(|a| place(a.0, a.1)).collect::<Vec<_>>());
        for f in fits.iter().filter(|f| of(f).is_finite()) {
            let (x, y) = place(f.simulations, of(f));
            svg.disc("posterior-solid", x, y, 4.0, &format!("{} simulations: {}", short(f.simulations), short(of(f))));
        }
        for a in ahead.iter().skip(1) {
            let (x, y) = place(a.0, a.1);
            svg.disc("prior-solid", x, y, 4.0, &format!("{} simulations: about {} expected", short(a.0), short(a.1)));
        }
        svg
    }
}

/// An eighth, a quarter, a half and all of the simulations; subsets are the first ones, as parameters come in random order.
fn fits(inputs: &ReportInputs<'_>, parameters: &[Parameter]) -> Vec<Refit> {
    let total = inputs.fit.question().recorded.theta().rows();
    let mut sizes: Vec<usize> =
        (1..).map(|k| total >> k).take_while(|&m| m >= FEWEST).filter(|&m| m <= inputs.largest_refit).take(REFITS).collect();
    sizes.reverse();
    // Never another model on a subset: what is asked is how this one improves.
    let settings = FitOptions { model: ModelChoice::Use(inputs.fit.model.family()), ..inputs.settings.clone() };
    let refit = |m: &usize| {
        let subset = inputs.fit.question().of_part(&(0..*m).collect::<Vec<_>>()).ok()?;
        let found = Fit::new(&subset, &settings, &mut |_| true).ok()?;
        measure(&found, parameters, *m)
    };
    let mut fits: Vec<Refit> = sizes.iter().filter_map(refit).collect();
    fits.extend(measure(inputs.fit, parameters, total));
    fits
}

fn measure(fit: &Fit, parameters: &[Parameter], simulations: usize) -> Option<Refit> {
    let statistics = fit.statistics();
    let active = statistics.iter().filter(|s| s.scale.dropped.is_none());
    let logs: Vec<f64> = active.map(|s| s.relative_epsilon.ln()).collect();
    let mut widths = 0.0;
    for (d, p) in parameters.iter().enumerate() {
        let ends = fit.posterior.quantile(d, &[PROBABILITIES[0], PROBABILITIES[4]]).ok()?;
        widths += ((ends[1] - ends[0]) / (p.prior_quantiles[4] - p.prior_quantiles[0])).ln();
    }
    Some(Refit {
        simulations: simulations as f64,
        epsilon: (logs.iter().sum::<f64>() / logs.len().max(1) as f64).exp(),
        width: (widths / parameters.len() as f64).exp(),
        score: fit.score().map_or(f64::NAN, |score| score.0),
    })
}

/// Slope of the least-squares line of ln value on ln simulations.
fn slope(fits: &[Refit], of: impl Fn(&Refit) -> f64) -> f64 {
    let points: Vec<(f64, f64)> = fits.iter().map(|f| (f.simulations.ln(), of(f).ln())).collect();
    let n = points.len() as f64;
    let (mx, my) = (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
    points.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum::<f64>() / points.iter().map(|p| (p.0 - mx).powi(2)).sum::<f64>()
}
