//! Gamma and inverse gamma.

use super::family::{Distribution, require_shape};
use crate::Error;
use crate::special::{Level, gamma};

/// Density ∝ x^(shape−1) e^(−rate x).
pub(super) struct Gamma {
    pub shape: f64,
    pub rate: f64,
}

impl Distribution for Gamma {
    fn validate(&self) -> Result<(), Error> {
        require_shape("shape of gamma", self.shape)?;
        Error::require_positive("rate of gamma", self.rate)?;
        Ok(())
    }
    fn support(&self) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }
    fn ln_density(&self, x: f64) -> f64 {
        if x == 0.0 {
            return at_zero(self.shape, self.rate);
        }
        gamma::ln_weight(self.shape, self.rate.ln() + x.ln()) - x.ln()
    }
    fn ln_tails(&self, x: f64) -> (f64, f64) {
        gamma::ln_tails(self.shape, self.rate.ln() + x.ln())
    }
    fn quantile(&self, level: &Level) -> f64 {
        (gamma::ln_quantile(self.shape, level) - self.rate.ln()).exp()
    }
    fn mean(&self) -> Option<f64> {
        Some(self.shape / self.rate)
    }
    fn std(&self) -> Option<f64> {
        Some(self.shape.sqrt() / self.rate)
    }
}

/// ln-density of a gamma at 0.
fn at_zero(shape: f64, rate: f64) -> f64 {
    if shape > 1.0 {
        f64::NEG_INFINITY
    } else if shape < 1.0 {
        f64::INFINITY
    } else {
        rate.ln()
    }
}

/// 1/Gamma(shape, rate = scale).
pub(super) struct InverseGamma {
    pub shape: f64,
    pub scale: f64,
}

impl Distribution for InverseGamma {
    fn validate(&self) -> Result<(), Error> {
        require_shape("shape of inverse_gamma", self.shape)?;
        Error::require_positive("scale of inverse_gamma", self.scale)?;
        Ok(())
    }
    fn support(&self) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }
    fn ln_density(&self, x: f64) -> f64 {
        if x == 0.0 {
            return f64::NEG_INFINITY;
        }
        gamma::ln_weight(self.shape, self.scale.ln() - x.ln()) - x.ln()
    }
    fn ln_tails(&self, x: f64) -> (f64, f64) {
        let (ln_lower, ln_upper) = gamma::ln_tails(self.shape, self.scale.ln() - x.ln());
        (ln_upper, ln_lower)
    }
    fn quantile(&self, level: &Level) -> f64 {
        (self.scale.ln() - gamma::ln_quantile(self.shape, &level.swapped())).exp()
    }
    fn mean(&self) -> Option<f64> {
        (self.shape > 1.0).then(|| self.scale / (self.shape - 1.0))
    }
    fn std(&self) -> Option<f64> {
        (self.shape > 2.0).then(|| self.scale / ((self.shape - 1.0) * (self.shape - 2.0).sqrt()))
    }
}
