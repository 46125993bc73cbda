//! A normal restricted to an interval, accurate however far in a tail the interval lies.

use super::family::Distribution;
use crate::Error;
use crate::special::normal::{self, LN_SQRT_2PI};
use crate::special::{Level, NEWTON_STOP};

/// N(mean, std²) restricted to [low, high].
///
/// All masses are in units of the density at the reference point, the point of the interval nearest to the mean: there they
/// neither underflow nor cancel.
pub(super) struct TruncatedNormal {
    pub mean: f64,
    pub std: f64,
    pub low: f64,
    pub high: f64,
}

impl TruncatedNormal {
    /// x in standard deviations from the mean.
    fn standardised(&self, x: f64) -> f64 {
        (x - self.mean) / self.std
    }

    /// The point of the interval where the density is highest.
    fn reference(&self) -> f64 {
        self.mean.clamp(self.low, self.high)
    }

    /// ln density at x in units of the density at the reference point: −(x − r)(x + r − 2 mean)/(2 std²).
    fn ln_relative_density(&self, x: f64) -> f64 {
        let r = self.reference();
        -0.5 * ((x - r) / self.std) * (((x - self.mean) + (r - self.mean)) / self.std)
    }

    /// ln of the mass between two points of the interval.
    fn ln_mass(&self, from: f64, to: f64) -> f64 {
        let (a, b, h) = (self.standardised(from), self.standardised(to), (to - from) / self.std);
        if a >= 0.0 {
            self.ln_relative_density(from) + normal::ln_tail_mass(a, h)
        } else if b <= 0.0 {
            self.ln_relative_density(to) + normal::ln_tail_mass(-b, h)
        } else {
            (0.5 * (normal::central(b) - normal::central(a))).ln() + LN_SQRT_2PI
        }
    }

    /// ln of the mass of the whole interval.
    fn ln_total(&self) -> f64 {
        self.ln_mass(self.low, self.high)
    }

    /// The same seen from the other side.
    fn reflected(&self) -> Self {
        Self { mean: -self.mean, std: self.std, low: -self.high, high: -self.low }
    }

    /// The x with P(X ≤ x) = p ≤ ½.
    fn lower_quantile(&self, ln_p: f64) -> f64 {
        if ln_p == f64::NEG_INFINITY {
            return self.low;
        }
        let target = ln_p + self.ln_total();
        let reference = self.standardised(self.reference());
        let (ln_below, ln_target) = (normal::ln_cdf(self.standardised(self.low)), target + normal::ln_density(reference));
        let through_cdf = self.low == f64::NEG_INFINITY || (reference == 0.0 && ln_target > ln_below);
        if !through_cdf {
            let x = self.low + self.std * self.solve(target).exp();
            let near_high = self.reference() == self.high && self.high - x < 0.1 * (self.high - self.low);
            return if near_high { self.high - self.std * self.solve_from_high(target) } else { x };
        }
        // Φ(ξ) = Φ(low) + p · total, where the sum does not hide the second term.
        let ln_sum = ln_target + (ln_below - ln_target).exp().ln_1p();
        self.mean + self.std * Level::from_ln_p(ln_sum).to_normal()
    }

    /// u = ln((x − low)/std) with ln mass(low, x) = target: Newton's method on u inside a bracket.
    fn solve(&self, target: f64) -> f64 {
        // The relative density is at most one, so mass ≤ h and u ≥ target.
        let mut left = target;
        let beyond_mean = (-self.standardised(self.low)).max(0.0) + 40.0;
        let mut right = ((self.high - self.low) / self.std).min(beyond_mean).ln();
        let mut u = (target - self.ln_relative_density(self.low)).clamp(left, right);
        for _ in 0..200 {
            let x = self.low + self.std * u.exp();
            let ln_value = self.ln_mass_from_low(u.exp());
            if ln_value < target {
                left = u
            } else {
                right = u
            }
            let newton = u + (target - ln_value) * (ln_value - self.ln_relative_density(x) - u).exp();
            let next = if (left..=right).contains(&newton) { newton } else { 0.5 * (left + right) };
            let step = next - u;
            u = next;
            if step.abs() <= NEWTON_STOP * u.abs().max(1.0) {
                break;
            }
        }
        u
    }

    /// w = (high − x)/std with ln mass(low, x) = target, where the density is highest at `high`: measured from there, a far low end
    /// costs no digits. Newton's method inside a bracket.
    fn solve_from_high(&self, target: f64) -> f64 {
        let (b, whole) = (-self.standardised(self.high), (self.high - self.low) / self.std);
        let (mut left, mut right) = (0.0, whole);
        let mut w = 0.0;
        for _ in 0..200 {
            let ln_relative = -w * (b + 0.5 * w);
            let ln_value = ln_relative + normal::ln_tail_mass(b + w, whole - w);
            if ln_value > target {
                left = w
            } else {
                right = w
            }
            let newton = w + (ln_value - target) * (ln_value - ln_relative).exp();
            let next = if (left..=right).contains(&newton) { newton } else { 0.5 * (left + right) };
            let step = next - w;
            w = next;
            if step.abs() <= NEWTON_STOP * w.abs() {
                break;
            }
        }
        w
    }

    /// ln mass between low and low + h std, with h kept apart because the sum may round to low.
    fn ln_mass_from_low(&self, h: f64) -> f64 {
        let a = self.standardised(self.low);
        if a >= 0.0 {
            return self.ln_relative_density(self.low) + normal::ln_tail_mass(a, h);
        }
        if a + h <= 0.0 {
            let ln_density_at_end = self.ln_relative_density(self.low) - h * (a + 0.5 * h);
            return ln_density_at_end + normal::ln_tail_mass(-a - h, h);
        }
        (0.5 * (normal::central(a + h) - normal::central(a))).ln() + LN_SQRT_2PI
    }

    /// E f(X) by the trapezoidal rule in z, which converges geometrically for smooth integrands with Gaussian weight.
    fn expectation(&self, f: impl Fn(f64) -> f64) -> f64 {
        const STEP: f64 = 0.125;
        let term = |i: i32| {
            let z = STEP * f64::from(i);
            STEP * normal::ln_density(z).exp() * f(self.from_normal(z))
        };
        (-72..=72).map(term).sum()
    }
}

impl Distribution for TruncatedNormal {
    fn validate(&self) -> Result<(), Error> {
        Error::require_finite("mean of truncated_normal", self.mean)?;
        Error::require_positive("std of truncated_normal", self.std)?;
        let bounds = [("low of truncated_normal", self.low, f64::NEG_INFINITY), ("high of truncated_normal", self.high, f64::INFINITY)];
        for (what, value, infinite) in bounds {
            if value != infinite {
                Error::require_finite(what, value)?;
            }
        }
        if self.high > self.low && self.ln_total().is_finite() {
            Ok(())
        } else {
            Err(Error::invalid("high of truncated_normal", self.high, format!("it must lie above low = {}", self.low)))
        }
    }
    fn support(&self) -> (f64, f64) {
        (self.low, self.high)
    }
    fn ln_density(&self, x: f64) -> f64 {
        self.ln_relative_density(x) - self.std.ln() - self.ln_total()
    }
    fn ln_tails(&self, x: f64) -> (f64, f64) {
        let (ln_p, ln_q, total) = (self.ln_mass(self.low, x), self.ln_mass(x, self.high), self.ln_total());
        ((ln_p - total).min(0.0), (ln_q - total).min(0.0))
    }
    fn quantile(&self, level: &Level) -> f64 {
        if level.difference <= 0.0 { self.lower_quantile(level.ln_p) } else { -self.reflected().lower_quantile(level.ln_q) }
    }
    fn mean(&self) -> Option<f64> {
        let r = self.reference();
        Some(r + self.expectation(|x| x - r))
    }
    fn std(&self) -> Option<f64> {
        let mean = self.mean()?;
        Some(self.expectation(|x| (x - mean) * (x - mean)).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::ln_one_minus_exp;

    #[test]
    fn both_tails_of_a_far_interval_sum_to_one() {
        let family = TruncatedNormal { mean: 0.0, std: 1.0, low: 1e6, high: 1e6 + 1e-5 };
        for share in [0.1, 0.5, 0.9] {
            let (ln_p, ln_q) = family.ln_tails(1e6 + 1e-5 * share);
            assert!((ln_one_minus_exp(ln_p) - ln_q).abs() < 1e-9);
        }
    }
}
