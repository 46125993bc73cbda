//! Residuals of one statistic with what their gradients need.

use super::Statistic;
use crate::Points;
use crate::model::location_scale::direction::along;
use crate::model::location_scale::regression::{MeanWeights, Traced};

/// [`Statistic::residual_at`] at some queries, ready for gradients.
pub struct TracedResiduals<'a> {
    mean: Traced<'a>,
    spread: Option<Traced<'a>>,
    deviations: Vec<f64>,
    /// (transformed y - mean) / standard deviation.
    pub residuals: Vec<f64>,
}

impl TracedResiduals<'_> {
    /// ln of the standard deviation at query `q`.
    pub fn ln_deviation(&self, q: usize) -> f64 {
        self.deviations[q].ln()
    }
}

impl Statistic {
    /// Residuals of a transformed observation at each z; it, and the weights of the mean unless they are the fit's, are each query's own. There is
    /// no such thing for repeats.
    pub fn trace<'a>(&'a self, weights: Option<Vec<&'a MeanWeights>>, z: &Points, transformed: &[&[f64]]) -> TracedResiduals<'a> {
        let z = &along(z, self.hyperparameters.direction.as_deref());
        let mean = match weights {
            Some(weights) => self.mean.trace_each(weights, z),
            None => self.mean.trace(z),
        };
        let (relative, spread) = match self.spread.as_ref().map(|spread| spread.trace(z)) {
            Some((relative, traced)) => (relative, Some(traced)),
            None => (vec![1.0; z.rows()], None),
        };
        let of_one = |(w, v): (&f64, &f64)| (self.inflation * (self.mean.noise_variance(*w) + v) + self.error).sqrt();
        let deviations: Vec<f64> = relative.iter().zip(&mean.variances).map(of_one).collect();
        let residuals = mean.means.iter().zip(&deviations).zip(transformed).map(|((m, d), y)| (y[0] - m) / d).collect();
        TracedResiduals { mean, spread, deviations, residuals }
    }

    /// ∂/∂z of `of_residual` times the residual r less ln of its standard deviation d, at each query: with d² = c (N + V) + error,
    /// ∂r = -∂ĝ/d - r ∂d/d and ∂d = c (∂N + ∂V)/(2 d).
    pub fn pulls(&self, traced: &TracedResiduals<'_>, of_residual: &[f64]) -> Points {
        let rows = || traced.residuals.iter().zip(&traced.deviations).zip(of_residual);
        let of_mean: Vec<f64> = rows().map(|((_, d), of_residual)| -of_residual / d).collect();
        let of_variance: Vec<f64> = rows().map(|((r, d), of_residual)| -(of_residual * r + 1.0) / d * self.inflation / (2.0 * d)).collect();
        let mut gradients = self.mean.pulls(&traced.mean, &of_mean, &of_variance);
        if let (Some(spread), Some(of_spread)) = (&self.spread, &traced.spread) {
            // N is a constant plus a multiple of w.
            let slope = self.mean.noise_variance(1.0) - self.mean.noise_variance(0.0);
            let of_noise: Vec<f64> = of_variance.iter().map(|of_variance| of_variance * slope).collect();
            let added = spread.pulls(of_spread, &of_noise);
            gradients.values_mut().iter_mut().zip(added.values()).for_each(|(g, s)| *g += s);
        }
        match &self.hyperparameters.direction {
            None => gradients,
            Some(direction) => gradients.map_rows(direction.len(), |gradient| {
                let last = gradient[direction.len()];
                gradient.iter().zip(direction).map(|(g, e)| g + last * e).collect()
            }),
        }
    }
}
