//! Normal, log-normal and half-normal.

use super::family::Distribution;
use crate::Error;
use crate::special::{Level, ln_one_minus_exp, normal};
use std::f64::consts::{FRAC_2_PI, LN_2};

/// N(mean, std²).
pub(super) struct Normal {
    pub mean: f64,
    pub std: f64,
}

impl Distribution for Normal {
    fn validate(&self) -> Result<(), Error> {
        Error::require_finite("mean of normal", self.mean)?;
        Error::require_positive("std of normal", self.std)?;
        Ok(())
    }
    fn ln_density(&self, x: f64) -> f64 {
        normal::ln_density(self.to_normal(x)) - self.std.ln()
    }
    fn ln_tails(&self, x: f64) -> (f64, f64) {
        let z = self.to_normal(x);
        (normal::ln_cdf(z), normal::ln_cdf(-z))
    }
    fn quantile(&self, level: &Level) -> f64 {
        self.from_normal(level.to_normal())
    }
    fn to_normal(&self, x: f64) -> f64 {
        (x - self.mean) / self.std
    }
    fn from_normal(&self, z: f64) -> f64 {
        self.mean + self.std * z
    }
    fn mean(&self) -> Option<f64> {
        Some(self.mean)
    }
    fn std(&self) -> Option<f64> {
        Some(self.std)
    }
}

/// exp N(mean, std²).
pub(super) struct LogNormal {
    pub mean: f64,
    pub std: f64,
}

impl Distribution for LogNormal {
    fn validate(&self) -> Result<(), Error> {
        Error::require_finite("mean of log_normal", self.mean)?;
        Error::require_positive("std of log_normal", self.std)?;
        Ok(())
    }
    fn support(&self) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }
    fn ln_density(&self, x: f64) -> f64 {
        if x == 0.0 {
            return f64::NEG_INFINITY;
        }
        normal::ln_density(self.to_normal(x)) - self.std.ln() - x.ln()
    }
    fn ln_tails(&self, x: f64) -> (f64, f64) {
        let z = self.to_normal(x);
        (normal::ln_cdf(z), normal::ln_cdf(-z))
    }
    fn quantile(&self, level: &Level) -> f64 {
        self.from_normal(level.to_normal())
    }
    fn to_normal(&self, x: f64) -> f64 {
        (x.ln() - self.mean) / self.std
    }
    fn from_normal(&self, z: f64) -> f64 {
        (self.mean + self.std * z).exp()
    }
    fn mean(&self) -> Option<f64> {
        Some((self.mean + 0.5 * self.std * self.std).exp())
    }
    fn std(&self) -> Option<f64> {
        let variance = self.std * self.std;
        Some((self.mean + 0.5 * variance).exp() * variance.exp_m1().sqrt())
    }
}

/// |N(0, std²)|.
pub(super) struct HalfNormal {
    pub std: f64,
}

impl Distribution for HalfNormal {
    fn validate(&self) -> Result<(), Error> {
        Error::require_positive("std of half_normal", self.std)?;
        Ok(())
    }
    fn support(&self) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }
    fn ln_density(&self, x: f64) -> f64 {
        LN_2 + normal::ln_density(x / self.std) - self.std.ln()
    }
    fn ln_tails(&self, x: f64) -> (f64, f64) {
        let t = x / self.std;
        let ln_q = LN_2 + normal::ln_cdf(-t);
        (if t < 1.0 { normal::central(t).ln() } else { ln_one_minus_exp(ln_q) }, ln_q)
    }
    fn quantile(&self, level: &Level) -> f64 {
        // P(|Z| ≤ t) = Φ(t) − Φ(−t) = p, or Φ(−t) = q/2.
        let t = if level.p <= 0.5 { normal::central_quantile(level.p) } else { -Level::from_ln_p(level.ln_q - LN_2).to_normal() };
        self.std * t
    }
    fn mean(&self) -> Option<f64> {
        Some(self.std * FRAC_2_PI.sqrt())
    }
    fn std(&self) -> Option<f64> {
        Some(self.std * (1.0 - FRAC_2_PI).sqrt())
    }
}
