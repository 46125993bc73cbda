//! One statistic in several independent repeats.

use super::{Predicted, Statistic};
use crate::Error;
use crate::model::location_scale::cells::Targets;
use crate::model::location_scale::regression::Standard;
use crate::model::location_scale::within::{Within, average, whitened};

impl Statistic {
    /// This, fitted to averages over repeats, with how repeats scatter around them; `of_spread` is the noise expected at each simulation.
    pub(super) fn of_repeats(self, within: &Within, of_spread: &[f64]) -> Self {
        let (repeats, variance) = (within.repeats, within.variance(of_spread));
        let of_one = |((deviations, w), residual): ((&[f64], &f64), &f64)| -> Vec<f64> {
            whitened(deviations, (variance * w).sqrt(), *residual).collect()
        };
        let standardised = within.deviations.chunks(repeats).zip(of_spread).zip(&self.standardised).flat_map(of_one).collect();
        Self { repeats, within: variance, standardised, ..self }
    }

    /// How many values of it an output has.
    pub fn repeats(&self) -> usize {
        self.repeats
    }

    /// r_k of every repeat at one query, and ln of σ^(k-1) √k D.
    pub(super) fn residuals_of_repeats(&self, at: &Predicted, transformed: &[f64]) -> (Vec<f64>, f64) {
        let (mean, k) = (average(transformed), transformed.len() as f64);
        let deviations: Vec<f64> = transformed.iter().map(|y| y - mean).collect();
        let residuals = whitened(&deviations, at.within, (mean - at.mean) / at.deviation).collect();
        (residuals, (k - 1.0) * at.within.ln() + 0.5 * k.ln() + at.deviation.ln())
    }
}

impl Predicted {
    /// Standard deviation of one value, whether or not it is one of `repeats`: σ² (1 - 1/k) + D².
    pub fn deviation_of_one(&self, repeats: usize) -> f64 {
        let apart = self.within.powi(2) * (1.0 - 1.0 / repeats as f64);
        if repeats == 1 { self.deviation } else { (apart + self.deviation.powi(2)).sqrt() }
    }

    /// The values whose whitened residuals are these.
    pub fn values(&self, residuals: &[f64]) -> Vec<f64> {
        if let [r] = residuals {
            return vec![self.mean + self.deviation * r];
        }
        let mean = average(residuals);
        let shared = self.mean + (residuals.len() as f64).sqrt() * self.deviation * mean;
        residuals.iter().map(|r| shared + self.within * (r - mean)).collect()
    }
}

/// An error where repeats are always the same number: they are then no independent repeats.
pub(super) fn require_scatter(targets: &Targets, index: usize) -> Result<(), Error> {
    let equal = targets.within.as_ref().is_some_and(|within| within.are_equal(Standard::of(&targets.means).scale));
    if !equal {
        return Ok(());
    }
    Err(Error::Unavailable {
        what: "a location-scale likelihood of repeats".into(),
        reason: format!(
            "statistic {} is the same in all repeats of a simulation, so that they are not independent; leave out `repeats`, or this statistic",
            index + 1
        ),
    })
}
