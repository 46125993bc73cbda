//! What kind of regression suits a statistic: on which scale, and how it bends.

use super::cells::Values;
use super::constants::regression_search::{FAINT, FAINT_LENGTHS, MARGIN};
use super::constants::starts::MOST_ALONE;
use super::constants::transform::COMPARED;
use super::curve::Bend;
use super::regression::{Regression, RegressionHyperparameters};
use super::regression_search::{constant, is_straight, ln_evidence, search, start, straight};
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

/// z and its squares: a plane through both tells cheaply whether anything moves.
pub fn with_squares(z: &Points) -> Points {
    z.map_rows(2 * z.columns(), |z| z.iter().copied().chain(z.iter().map(|z| z * z - 1.0)).collect())
}

/// Whether a plane through `squared`, z and its squares, is likelier than a constant by so many nats.
pub fn moves(squared: &Points, targets: &[f64], margin: f64) -> bool {
    search(squared, targets, &vec![1.0; targets.len()], &straight(squared.columns())).1 >= constant(targets.len()) + margin
}

/// Whether bumps are worth a search: a plane through z and its squares gains so many nats, or some bumps are likelier than a constant before
/// anything is tuned.
pub fn may_move(z: &Points, targets: &[f64], margin: f64) -> bool {
    let flat = constant(targets.len());
    moves(&with_squares(z), targets, margin) || faint_bumps(z.columns()).any(|h| ln_evidence(z, targets, &h) > flat)
}

/// Bumps a little above the noise, of the usual length scales and shorter ones, or, with few coordinates, shorter in one of them.
fn faint_bumps(dimension: usize) -> impl Iterator<Item = RegressionHyperparameters> {
    let alone = if (2..=MOST_ALONE).contains(&dimension) { dimension } else { 0 };
    let shortened = move |which: Option<usize>, factor: f64| {
        let mut h = start(Bend::Bumps, dimension);
        h.length_scales.iter_mut().enumerate().filter(|(d, _)| which.is_none_or(|w| w == *d)).for_each(|(_, b)| *b *= factor);
        RegressionHyperparameters { curved: FAINT.0, linear: FAINT.1, noise: FAINT.2, ..h }
    };
    let which = std::iter::once(None).chain((0..alone).map(Some));
    which.flat_map(move |which| FAINT_LENGTHS.into_iter().map(move |factor| shortened(which, factor)))
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
