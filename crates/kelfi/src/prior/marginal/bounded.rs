//! Families on an interval: uniform, log-uniform, beta and triangular.

use super::family::{Distribution, require_above, require_shape};
use crate::Error;
use crate::special::beta::{self, Share};
use crate::special::{Level, ln_one_minus_exp};

/// Constant density on [low, high].
pub(super) struct Uniform {
    pub low: f64,
    pub high: f64,
}

impl Distribution for Uniform {
    fn validate(&self) -> Result<(), Error> {
        require_above("uniform", self.low, self.high)
    }
    fn support(&self) -> (f64, f64) {
        (self.low, self.high)
    }
    fn ln_density(&self, _x: f64) -> f64 {
        -(self.high - self.low).ln()
    }
    fn ln_tails(&self, x: f64) -> (f64, f64) {
        let ln_width = (self.high - self.low).ln();
        ((x - self.low).ln() - ln_width, (self.high - x).ln() - ln_width)
    }
    fn quantile(&self, level: &Level) -> f64 {
        let width = self.high - self.low;
        if level.difference < 0.0 { self.low + level.p * width } else { self.high - level.q * width }
    }
    fn mean(&self) -> Option<f64> {
        Some(self.low + 0.5 * (self.high - self.low))
    }
    fn std(&self) -> Option<f64> {
        Some((self.high - self.low) / 12.0_f64.sqrt())
    }
}

/// Density ∝ 1/x on [low, high].
pub(super) struct LogUniform {
    pub low: f64,
    pub high: f64,
}

/// ln(b/a) for 0 < a ≤ b, accurate where they are close and where b/a overflows.
fn ln_ratio(a: f64, b: f64) -> f64 {
    if b < 2.0 * a { ((b - a) / a).ln_1p() } else { b.ln() - a.ln() }
}

impl Distribution for LogUniform {
    fn validate(&self) -> Result<(), Error> {
        Error::require_positive("low of log_uniform", self.low)?;
        require_above("log_uniform", self.low, self.high)
    }
    fn support(&self) -> (f64, f64) {
        (self.low, self.high)
    }
    fn ln_density(&self, x: f64) -> f64 {
        -x.ln() - ln_ratio(self.low, self.high).ln()
    }
    fn ln_tails(&self, x: f64) -> (f64, f64) {
        let ln_width = ln_ratio(self.low, self.high).ln();
        (ln_ratio(self.low, x).ln() - ln_width, ln_ratio(x, self.high).ln() - ln_width)
    }
    fn quantile(&self, level: &Level) -> f64 {
        let width = ln_ratio(self.low, self.high);
        if level.difference < 0.0 { self.low * (level.p * width).exp() } else { self.high * (-level.q * width).exp() }
    }
    fn mean(&self) -> Option<f64> {
        Some((self.high - self.low) / ln_ratio(self.low, self.high))
    }
    fn std(&self) -> Option<f64> {
        // E X² − (E X)² = (high − low) [(high + low)/2 − (high − low)/w] / w.
        let w = ln_ratio(self.low, self.high);
        let d = self.high - self.low;
        Some((d / w * (0.5 * (self.high + self.low) - d / w)).max(0.0).sqrt())
    }
}

/// Density ∝ x^(a−1) (1−x)^(b−1) on [0, 1].
pub(super) struct Beta {
    pub a: f64,
    pub b: f64,
}

impl Distribution for Beta {
    fn validate(&self) -> Result<(), Error> {
        require_shape("a of beta", self.a)?;
        require_shape("b of beta", self.b)?;
        Ok(())
    }
    fn support(&self) -> (f64, f64) {
        (0.0, 1.0)
    }
    fn ln_density(&self, x: f64) -> f64 {
        let at = Share::from_x(x);
        let exponent = if x == 0.0 { self.a } else { self.b };
        if x > 0.0 && x < 1.0 {
            beta::ln_weight(self.a, self.b, &at) - at.ln_x - at.ln_y
        } else if exponent > 1.0 {
            f64::NEG_INFINITY
        } else if exponent < 1.0 {
            f64::INFINITY
        } else {
            // p(0) = b for a = 1, p(1) = a for b = 1.
            (if x == 0.0 { self.b } else { self.a }).ln()
        }
    }
    fn ln_tails(&self, x: f64) -> (f64, f64) {
        beta::ln_tails(self.a, self.b, &Share::from_x(x))
    }
    fn quantile(&self, level: &Level) -> f64 {
        Share::from_logit(beta::logit_quantile(self.a, self.b, level)).x
    }
    fn mean(&self) -> Option<f64> {
        Some(self.a / (self.a + self.b))
    }
    fn std(&self) -> Option<f64> {
        let total = self.a + self.b;
        Some((self.a / total * (self.b / total) / (total + 1.0)).sqrt())
    }
}

/// Density rising linearly from low to mode and falling linearly to high.
pub(super) struct Triangular {
    pub low: f64,
    pub mode: f64,
    pub high: f64,
}

impl Triangular {
    /// The same seen from the other side.
    fn reflected(&self) -> Self {
        Self { low: -self.high, mode: -self.mode, high: -self.low }
    }

    /// Whether x belongs to the rising side.
    fn rising(&self, x: f64) -> bool {
        x < self.mode || self.mode == self.high
    }

    /// ln P(X ≤ mode).
    fn ln_rise(&self) -> f64 {
        ((self.mode - self.low) / (self.high - self.low)).ln()
    }

    /// ln P(X ≤ x) on the rising side: 2 ln((x − low)/(mode − low)) + ln P(X ≤ mode), with the ratio taken from the nearer end.
    fn ln_cdf_rising(&self, x: f64) -> f64 {
        let (from_low, to_mode, width) = (x - self.low, self.mode - x, self.mode - self.low);
        2.0 * if to_mode < from_low { (-to_mode / width).ln_1p() } else { (from_low / width).ln() } + self.ln_rise()
    }

    /// The x of the rising side with P(X ≤ x) = p.
    fn quantile_rising(&self, ln_p: f64) -> f64 {
        let width = self.mode - self.low;
        let ln_ratio = 0.5 * (ln_p - self.ln_rise());
        if ln_ratio < -1.0 { self.low + width * ln_ratio.exp() } else { self.mode + width * ln_ratio.exp_m1() }
    }
}

impl Distribution for Triangular {
    fn validate(&self) -> Result<(), Error> {
        require_above("triangular", self.low, self.high)?;
        if self.mode >= self.low && self.mode <= self.high {
            Ok(())
        } else {
            Err(Error::invalid("mode of triangular", self.mode, format!("it must lie between low = {} and high = {}", self.low, self.high)))
        }
    }
    fn support(&self) -> (f64, f64) {
        (self.low, self.high)
    }
    fn ln_density(&self, x: f64) -> f64 {
        let (distance, side) = if self.rising(x) { (x - self.low, self.mode - self.low) } else { (self.high - x, self.high - self.mode) };
        (2.0 / (self.high - self.low)).ln() + (distance / side).ln()
    }
    fn ln_tails(&self, x: f64) -> (f64, f64) {
        if self.rising(x) {
            let ln_p = self.ln_cdf_rising(x).min(0.0);
            (ln_p, ln_one_minus_exp(ln_p))
        } else {
            let ln_q = self.reflected().ln_cdf_rising(-x).min(0.0);
            (ln_one_minus_exp(ln_q), ln_q)
        }
    }
    fn quantile(&self, level: &Level) -> f64 {
        if self.mode > self.low && level.ln_p <= self.ln_rise() {
            self.quantile_rising(level.ln_p)
        } else {
            -self.reflected().quantile_rising(level.ln_q)
        }
    }
    fn mean(&self) -> Option<f64> {
        Some(self.low + ((self.mode - self.low) + (self.high - self.low)) / 3.0)
    }
    fn std(&self) -> Option<f64> {
        let (c, w) = (self.mode - self.low, self.high - self.low);
        Some(((c * c + w * w - c * w) / 18.0).sqrt())
    }
}
