//! Exponential and Weibull: survival functions that are plain exponentials.

use super::family::{Distribution, require_shape};
use crate::Error;
use crate::special::gamma::ln_gamma;
use crate::special::{Level, ln_one_minus_exp};

/// P(X > x) = exp(−rate x).
pub(super) struct Exponential {
    pub rate: f64,
}

impl Distribution for Exponential {
    fn validate(&self) -> Result<(), Error> {
        Error::require_positive("rate of exponential", self.rate)?;
        Ok(())
    }
    fn support(&self) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }
    fn ln_density(&self, x: f64) -> f64 {
        self.rate.ln() - self.rate * x
    }
    fn ln_tails(&self, x: f64) -> (f64, f64) {
        let ln_q = -self.rate * x;
        (ln_one_minus_exp(ln_q), ln_q)
    }
    fn quantile(&self, level: &Level) -> f64 {
        -level.ln_q / self.rate
    }
    fn mean(&self) -> Option<f64> {
        Some(1.0 / self.rate)
    }
    fn std(&self) -> Option<f64> {
        self.mean()
    }
}

/// P(X > x) = exp(−(x/scale)^shape).
pub(super) struct Weibull {
    pub shape: f64,
    pub scale: f64,
}

impl Weibull {
    /// ln (x/scale)^shape.
    fn ln_hazard(&self, x: f64) -> f64 {
        self.shape * (x.ln() - self.scale.ln())
    }
}

impl Distribution for Weibull {
    fn validate(&self) -> Result<(), Error> {
        require_shape("shape of weibull", self.shape)?;
        Error::require_positive("scale of weibull", self.scale)?;
        Ok(())
    }
    fn support(&self) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }
    fn ln_density(&self, x: f64) -> f64 {
        let constant = self.shape.ln() - self.scale.ln();
        // (shape − 1) ln(x/scale) with 0 · ∞ = 0 for the exponential.
        let power = if self.shape == 1.0 { 0.0 } else { (self.shape - 1.0) * (x.ln() - self.scale.ln()) };
        constant + power - self.ln_hazard(x).exp()
    }
    fn ln_tails(&self, x: f64) -> (f64, f64) {
        let ln_hazard = self.ln_hazard(x);
        let ln_q = -ln_hazard.exp();
        // 1 − e^−h = h (1 − h/2 + …): ln h itself where h may underflow.
        (if ln_hazard < -40.0 { ln_hazard } else { ln_one_minus_exp(ln_q) }, ln_q)
    }
    fn quantile(&self, level: &Level) -> f64 {
        let ln_hazard = if level.ln_p < -40.0 { level.ln_p } else { (-level.ln_q).ln() };
        (self.scale.ln() + ln_hazard / self.shape).exp()
    }
    fn mean(&self) -> Option<f64> {
        Some((self.scale.ln() + ln_gamma(1.0 + 1.0 / self.shape)).exp())
    }
    fn std(&self) -> Option<f64> {
        // E X² / (E X)² − 1.
        let squared_variation = (ln_gamma(1.0 + 2.0 / self.shape) - 2.0 * ln_gamma(1.0 + 1.0 / self.shape)).exp_m1();
        self.mean().map(|mean| mean * squared_variation.max(0.0).sqrt())
    }
}
