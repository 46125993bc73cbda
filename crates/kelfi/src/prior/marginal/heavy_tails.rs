//! Student's t, Cauchy and Laplace: symmetric families with tails heavier than the normal's.

use super::family::{Distribution, require_shape};
use crate::Error;
use crate::special::beta::{self, Share};
use crate::special::gamma::stirling;
use crate::special::{Level, ln_one_minus_exp};
use std::f64::consts::{FRAC_1_PI, LN_2, PI};

/// Both tails at a point on this side of the centre, from the smaller one, ln s.
fn sided(right: bool, ln_s: f64) -> (f64, f64) {
    if right { (ln_one_minus_exp(ln_s), ln_s) } else { (ln_s, ln_one_minus_exp(ln_s)) }
}

/// Domains shared by all three.
fn validate(family: &str, location: f64, scale: f64) -> Result<(), Error> {
    Error::require_finite(&format!("location of {family}"), location)?;
    Error::require_positive(&format!("scale of {family}"), scale)?;
    Ok(())
}

/// location + scale · t_df.
pub(super) struct StudentT {
    pub df: f64,
    pub location: f64,
    pub scale: f64,
}

impl StudentT {
    /// ln(t²/df), t = (x − location)/scale.
    fn ln_ratio(&self, x: f64) -> f64 {
        2.0 * ((x - self.location).abs().ln() - self.scale.ln()) - self.df.ln()
    }
}

impl Distribution for StudentT {
    fn validate(&self) -> Result<(), Error> {
        require_shape("df of student_t", self.df)?;
        validate("student_t", self.location, self.scale)
    }
    fn ln_density(&self, x: f64) -> f64 {
        // ln Γ(h+½)/Γ(h) with h = df/2, through Stirling's corrections.
        let h = 0.5 * self.df;
        let ln_gammas = h * (0.5 / h).ln_1p() + 0.5 * h.ln() - 0.5 + stirling(h + 0.5) - stirling(h);
        let ln_one_plus = -Share::from_logit(self.ln_ratio(x)).ln_y;
        ln_gammas - 0.5 * (PI * self.df).ln() - self.scale.ln() - (h + 0.5) * ln_one_plus
    }
    fn ln_tails(&self, x: f64) -> (f64, f64) {
        // P(|T| ≤ t) = I_y(½, df/2) with y = t²/(df + t²), whose logit is ln(t²/df).
        let beyond = beta::ln_tails(0.5, 0.5 * self.df, &Share::from_logit(self.ln_ratio(x))).1;
        sided(x > self.location, beyond - LN_2)
    }
    fn quantile(&self, level: &Level) -> f64 {
        let ln_beyond = level.ln_p.min(level.ln_q) + LN_2;
        let within = level.difference.abs();
        let two_sided = if within < 0.5 { Level::from_p(within) } else { Level::from_ln_q(ln_beyond) };
        let ln_t = 0.5 * (beta::logit_quantile(0.5, 0.5 * self.df, &two_sided) + self.df.ln());
        self.location + level.difference.signum() * (ln_t + self.scale.ln()).exp()
    }
    fn mean(&self) -> Option<f64> {
        (self.df > 1.0).then_some(self.location)
    }
    fn std(&self) -> Option<f64> {
        (self.df > 2.0).then(|| self.scale * (self.df / (self.df - 2.0)).sqrt())
    }
}

/// location + scale · tan of a uniform angle.
pub(super) struct Cauchy {
    pub location: f64,
    pub scale: f64,
}

impl Distribution for Cauchy {
    fn validate(&self) -> Result<(), Error> {
        validate("cauchy", self.location, self.scale)
    }
    fn ln_density(&self, x: f64) -> f64 {
        let t = ((x - self.location) / self.scale).abs();
        // ln(1 + t²) = 2 ln t where t² would overflow.
        let ln_one_plus = if t > 1e100 { 2.0 * ((x - self.location).abs().ln() - self.scale.ln()) } else { (t * t).ln_1p() };
        FRAC_1_PI.ln() - self.scale.ln() - ln_one_plus
    }
    fn ln_tails(&self, x: f64) -> (f64, f64) {
        let distance = (x - self.location).abs();
        // P(T > t) = atan(1/t)/π.
        let s = (self.scale / distance).atan() * FRAC_1_PI;
        let ln_s = if s > 1e-290 { s.ln() } else { self.scale.ln() - distance.ln() - PI.ln() };
        sided(x > self.location, ln_s)
    }
    fn quantile(&self, level: &Level) -> f64 {
        let t = if level.difference.abs() < 0.5 {
            (0.5 * PI * level.difference).tan()
        } else {
            level.difference.signum() / (PI * level.p.min(level.q)).tan()
        };
        self.location + self.scale * t
    }
    fn mean(&self) -> Option<f64> {
        None
    }
    fn std(&self) -> Option<f64> {
        None
    }
}

/// Density ∝ exp(−|x − location|/scale).
pub(super) struct Laplace {
    pub location: f64,
    pub scale: f64,
}

impl Distribution for Laplace {
    fn validate(&self) -> Result<(), Error> {
        validate("laplace", self.location, self.scale)
    }
    fn ln_density(&self, x: f64) -> f64 {
        -((x - self.location) / self.scale).abs() - LN_2 - self.scale.ln()
    }
    fn ln_tails(&self, x: f64) -> (f64, f64) {
        sided(x > self.location, -((x - self.location) / self.scale).abs() - LN_2)
    }
    fn quantile(&self, level: &Level) -> f64 {
        // P(|T| > t) = e^−t = 2 min(p, q) = 1 − |p − q|.
        let w = level.difference.abs();
        let t = if w < 0.5 { -(-w).ln_1p() } else { -(level.ln_p.min(level.ln_q) + LN_2) };
        self.location + level.difference.signum() * self.scale * t
    }
    fn mean(&self) -> Option<f64> {
        Some(self.location)
    }
    fn std(&self) -> Option<f64> {
        Some(self.scale * std::f64::consts::SQRT_2)
    }
}
