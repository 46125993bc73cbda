//! How the spread of a statistic moves with θ: a regression of the logarithm of squared residuals.

use super::cells::Targets;
use super::regression::{Regression, Traced};
use crate::Points;

/// ln w(θ), kept within what it is at the simulations.
#[derive(Debug, Clone)]
pub struct Spread {
    regression: Regression,
    centre: f64,
    low: f64,
    high: f64,
}

impl Spread {
    /// From the regression of ln r̃²; also w at the simulations, each without itself.
    pub fn new(regression: Regression, targets: &[f64]) -> (Self, Vec<f64>) {
        let fitted: Vec<f64> = targets.iter().zip(regression.residuals()).map(|(t, r)| t - r).collect();
        let centre = fitted.iter().sum::<f64>() / fitted.len() as f64;
        let (low, high) = fitted.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &f| (l.min(f), h.max(f)));
        let weights = fitted.iter().map(|f| (f - centre).exp()).collect();
        (Self { regression, centre, low, high }, weights)
    }

    /// w(θ) at each z.
    pub fn relative_noise(&self, z: &Points) -> Vec<f64> {
        self.regression.predict(z).0.into_iter().map(|h| self.of(h)).collect()
    }

    fn of(&self, h: f64) -> f64 {
        (h.clamp(self.low, self.high) - self.centre).exp()
    }

    /// [`Spread::relative_noise`], ready for gradients.
    pub fn trace(&self, z: &Points) -> (Vec<f64>, Traced<'_>) {
        let traced = self.regression.trace(z);
        (traced.means.iter().map(|h| self.of(*h)).collect(), traced)
    }

    /// ∂/∂z of `of_noise` times w at each query: none where w is kept within what it is at the simulations.
    pub fn pulls(&self, traced: &Traced<'_>, of_noise: &[f64]) -> Points {
        let inside = |h: f64| h > self.low && h < self.high;
        let of_mean = |(h, of_noise): (&f64, &f64)| if inside(*h) { of_noise * self.of(*h) } else { 0.0 };
        let of_mean: Vec<f64> = traced.means.iter().zip(of_noise).map(of_mean).collect();
        self.regression.pulls(traced, &of_mean, &vec![0.0; of_mean.len()])
    }
}

/// ln of the squared residuals' noise part, averaged over the cell of each target; of the variance of repeats where there are some.
pub fn ln_noise(mean: &Regression, targets: &Targets, weights: &[f64]) -> Vec<f64> {
    if let Some(within) = &targets.within {
        return within.ln_variances();
    }
    let residuals = mean.residuals().iter().enumerate();
    let shares: Vec<f64> =
        mean.residual_variances().iter().zip(weights).map(|(variance, &w)| (mean.noise_variance(w) / variance).min(1.0)).collect();
    let total: f64 = residuals.clone().map(|(i, r)| targets.average(i, *r, |r| shares[i] * r * r)).sum();
    let tiny = (1e-12 * total / shares.len() as f64).max(f64::MIN_POSITIVE);
    residuals.map(|(i, r)| targets.average(i, *r, |r| (shares[i] * r * r + tiny).ln())).collect()
}
