//! What kind of regression suits a statistic: on which scale, and how it bends.

use super::cells::Values;
use super::constants::regression_search::MARGIN;
use super::constants::transform::COMPARED;
use super::curve::Bend;
use super::regression::{Regression, RegressionHyperparameters};
use super::regression_search::{is_straight, search, start, straight};
use super::transform::{Scale, candidates};
use crate::Points;

/// What a search from given hyperparameters finds, and how likely that is.
pub type Found = (RegressionHyperparameters, f64);

/// A plane, or bumps if they are clearly better.
pub fn plane_or_bumps(dimension: usize, search: impl Fn(&RegressionHyperparameters) -> Found) -> Found {
    let plane = search(&straight(dimension));
    let bumps = search(&start(Bend::Bumps, dimension));
    if bumps.1 > plane.1 + MARGIN { bumps } else { plane }
}

/// The same, or sums of sigmoids. They are tried only where bumps bend: what is flat for one is flat for the other.
pub fn choose_form(dimension: usize, search: impl Fn(&RegressionHyperparameters) -> Found) -> Found {
    let best = plane_or_bumps(dimension, &search);
    if is_straight(&best.0) {
        return best;
    }
    let sigmoids = search(&start(Bend::Sigmoids, dimension));
    if sigmoids.1 > best.1 + MARGIN { sigmoids } else { best }
}

/// The change of scale under which leave-one-out predictions give the values themselves the highest density.
pub fn choose_scale(z: &Points, values: &Values, observed: &[f64]) -> Scale {
    let begin = start(Bend::Bumps, z.columns());
    let tried = candidates(&values.spread_out, observed, values.step);
    if tried.len() == 1 {
        return Scale::Identity;
    }
    let some: Vec<usize> = (0..z.rows().min(COMPARED)).collect();
    let (part, values) = (z.select(&some), values.head(some.len()).spread_out());
    let ones = vec![1.0; some.len()];
    let mut best = (Scale::Identity, f64::NEG_INFINITY);
    for scale in tried {
        let targets = values.on(scale);
        let hyperparameters = search(&part, &targets.means, &ones, &begin).0;
        let Ok(fit) = Regression::new(&part, &targets.means, &ones, &hyperparameters, false) else { continue };
        let density = |(i, (r, v)): (usize, (&f64, &f64))| -0.5 * (r * r / v + v.ln()) + values.ln_slope(scale, i);
        let of_means: f64 = fit.residuals().iter().zip(fit.residual_variances()).enumerate().map(density).sum();
        let score = of_means + targets.ln_density_within();
        if score > best.1 {
            best = (scale, score);
        }
    }
    best.0
}
