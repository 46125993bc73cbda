//! Residuals of one statistic with what their gradients need.

use super::Statistic;
use crate::Points;
use crate::model::location_scale::direction::along;
use crate::model::location_scale::regression::Traced;

/// [`Statistic::residual_at`] at some queries, ready for gradients.
pub struct TracedResiduals {
    mean: Traced,
    spread: Option<Traced>,
    deviations: Vec<f64>,
    /// (transformed y - mean) / standard deviation.
    pub residuals: Vec<f64>,
}

impl TracedResiduals {
    /// ln of the standard deviation at query `q`.
    pub fn ln_deviation(&self, q: usize) -> f64 {
        self.deviations[q].ln()
    }
}

impl Statistic {
    /// Residuals of a transformed observation at each z. There is no such thing for repeats.
    pub fn trace(&self, z: &Points, transformed: f64) -> TracedResiduals {
        let z = &along(z, self.hyperparameters.direction.as_deref());
        let mean = self.mean.trace(z);
        let (relative, spread) = match self.spread.as_ref().map(|spread| spread.trace(z)) {
            Some((relative, traced)) => (relative, Some(traced)),
            None => (vec![1.0; z.rows()], None),
        };
        let of_one = |(w, v): (&f64, &f64)| (self.inflation * (self.mean.noise_variance(*w) + v) + self.error).sqrt();
        let deviations: Vec<f64> = relative.iter().zip(&mean.variances).map(of_one).collect();
        let residuals = mean.means.iter().zip(&deviations).map(|(m, d)| (transformed - m) / d).collect();
        TracedResiduals { mean, spread, deviations, residuals }
    }

    /// ∂/∂z of `of_residual` times the residual r less ln of its standard deviation d, at query `q`: with d² = c (N + V) + error,
    /// ∂r = -∂ĝ/d - r ∂d/d and ∂d = c (∂N + ∂V)/(2 d).
    pub fn pull(&self, traced: &TracedResiduals, q: usize, of_residual: f64) -> Vec<f64> {
        let (r, d) = (traced.residuals[q], traced.deviations[q]);
        let of_variance = -(of_residual * r + 1.0) / d * self.inflation / (2.0 * d);
        let mut gradient = self.mean.pull(&traced.mean, q, -of_residual / d, of_variance);
        if let (Some(spread), Some(of_spread)) = (&self.spread, &traced.spread) {
            // N is a constant plus a multiple of w.
            let slope = self.mean.noise_variance(1.0) - self.mean.noise_variance(0.0);
            gradient.iter_mut().zip(spread.pull(of_spread, q, of_variance * slope)).for_each(|(g, s)| *g += s);
        }
        match &self.hyperparameters.direction {
            None => gradient,
            Some(direction) => {
                let last = gradient.pop().unwrap_or(0.0);
                gradient.iter().zip(direction).map(|(g, e)| g + last * e).collect()
            }
        }
    }
}
