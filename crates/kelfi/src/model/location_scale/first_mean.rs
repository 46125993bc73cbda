//! The first regression of a mean: how it bends, and which direction it sees beside the parameters.
//!
//! A statistic that depends on one combination of parameters bends along that combination, whatever the axes are. The slope of a linear fit
//! tells which, unless the statistic rises on both sides of where it bends: then the gradients of a first fit do.

use super::choice::{Found, choose_form};
use super::constants::regression_search::MARGIN;
use super::direction::{along, most_bent, steepest};
use super::regression::{Regression, RegressionHyperparameters};
use super::regression_search::{is_straight, search, start};
use super::starts::shorter;
use crate::{Error, Points};

/// What was chosen.
pub struct FirstMean {
    /// Unit vector; `None` with a single parameter.
    pub direction: Option<Vec<f64>>,
    pub hyperparameters: RegressionHyperparameters,
}

impl FirstMean {
    /// The direction in which the targets rise, or the one in which their mean bends most where that is clearly likelier. All targets tell
    /// the slope; everything else rests on the first `searched`.
    pub fn choose(z: &Points, targets: &[f64], searched: usize) -> Result<Self, Error> {
        let rising = steepest(z, targets);
        let z = &z.select(&(0..searched).collect::<Vec<_>>());
        let (targets, ones) = (&targets[..searched], vec![1.0; searched]);
        let seen = along(z, rising.as_deref());
        let (hyperparameters, ln_evidence) =
            with_short_lengths(&seen, targets, choose_form(seen.columns(), |begin| search(&seen, targets, &ones, begin)));
        let first = Self { direction: rising, hyperparameters };
        if first.direction.is_none() || is_straight(&first.hyperparameters) {
            return Ok(first);
        }
        let mean = Regression::new(&seen, targets, &ones, &first.hyperparameters, false)?;
        let bent = most_bent(z, |z| mean.predict(&along(z, first.direction.as_deref())).0);
        let seen = along(z, bent.as_deref());
        let begin = start(first.hyperparameters.form, seen.columns());
        let margin = MARGIN + 0.5 * (z.columns() - 1) as f64 * (z.rows() as f64).ln();
        let (hyperparameters, found) = search(&seen, targets, &ones, &begin);
        Ok(if found > ln_evidence + margin { Self { direction: bent, hyperparameters } } else { first })
    }
}

/// What was found, or what a search from much shorter length scales finds where that is clearly likelier.
fn with_short_lengths(z: &Points, targets: &[f64], found: Found) -> Found {
    let Some(begin) = shorter(z, targets, &found.0) else { return found };
    let short = search(z, targets, &vec![1.0; targets.len()], &begin);
    if short.1 > found.1 + MARGIN { short } else { found }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::vector::dot;
    use crate::random::{Purpose, standard_normal, stream};

    fn direction(mean: fn(&[f64]) -> f64) -> Vec<f64> {
        let mut rng = stream(8, Purpose::Experiment, 0);
        let rows: Vec<Vec<f64>> = (0..200).map(|_| (0..3).map(|_| standard_normal(&mut rng)).collect()).collect();
        let targets: Vec<f64> = rows.iter().map(|z| mean(z) + 0.1 * standard_normal(&mut rng)).collect();
        FirstMean::choose(&Points::from_rows(&rows).unwrap(), &targets, 200).unwrap().direction.unwrap()
    }

    #[test]
    fn a_statistic_that_rises_on_both_sides_is_seen_across_its_bend() {
        let across = [0.5_f64.sqrt(), 0.5_f64.sqrt(), 0.0];
        assert!(dot(&direction(|z| (z[0] + z[1]).abs()), &across).abs() > 0.99);
        // The slope along another parameter neither hides the bend nor is mistaken for it.
        assert!(dot(&direction(|z| (z[0] + z[1]).abs() + 2.0 * z[2]), &across).abs() > 0.99);
    }

    #[test]
    fn a_statistic_that_rises_is_seen_along_its_slope() {
        let along = [0.6, 0.0, 0.8];
        assert!(dot(&direction(|z| (0.6 * z[0] + 0.8 * z[2]).tanh()), &along).abs() > 0.99);
        assert!(dot(&direction(|z| 0.6 * z[0] + 0.8 * z[2]), &along).abs() > 0.99);
    }
}
