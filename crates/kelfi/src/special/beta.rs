//! The regularised incomplete beta function in log space, both tails, and its inverse.

use super::gamma::{nonzero, stirling};
use super::normal::LN_SQRT_2PI;
use super::{Level, NEWTON_STOP, ln_1p_minus, ln_one_minus_exp};

/// Terms of the continued fraction before giving up; O(√max(a, b)) are needed.
const TERMS: usize = 500_000;

/// A point x of (0, 1) with y = 1 − x, each with its own full precision, and their logarithms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// x.
    pub x: f64,
    /// y = 1 − x.
    pub y: f64,
    /// ln x.
    pub ln_x: f64,
    /// ln y.
    pub ln_y: f64,
}

impl Share {
    /// From x in [0, 1].
    pub fn from_x(x: f64) -> Self {
        Self { x, y: 1.0 - x, ln_x: x.ln(), ln_y: (-x).ln_1p() }
    }

    /// From u = ln(x/y).
    pub fn from_logit(u: f64) -> Self {
        // ln x = −ln(1 + e^−u), with the linear part taken out where e^−u would overflow.
        let softplus = |v: f64| v.max(0.0) + (-v.abs()).exp().ln_1p();
        let (ln_x, ln_y) = (-softplus(-u), -softplus(u));
        Self { x: ln_x.exp(), y: ln_y.exp(), ln_x, ln_y }
    }

    /// x and y exchanged.
    fn swapped(self) -> Self {
        Self { x: self.y, y: self.x, ln_x: self.ln_y, ln_y: self.ln_x }
    }
}

/// ln(x^a y^b / B(a, b)), the log-density of logit X. Written around the mean x₀ = a/(a+b), where the plain sum would cancel:
/// a g(ε/x₀) + b g(−ε/y₀) + ½ ln(ab/(2π(a+b))) − Δ(a) − Δ(b) + Δ(a+b), g(d) = ln(1+d) − d, ε = x − x₀.
pub fn ln_weight(a: f64, b: f64, at: &Share) -> f64 {
    let (x0, y0) = (a / (a + b), b / (a + b));
    let difference = if at.x < at.y { at.x - x0 } else { y0 - at.y };
    let g = |d: f64, ln_ratio: f64| ln_1p_minus(d, if d.abs() < 0.5 { d.ln_1p() } else { ln_ratio });
    let around = a * g(difference / x0, at.ln_x - x0.ln()) + b * g(-difference / y0, at.ln_y - y0.ln());
    around + 0.5 * (a.ln() + y0.ln()) - LN_SQRT_2PI - stirling(a) - stirling(b) + stirling(a + b)
}

/// (ln I, ln (1 − I)) of I = I_x(a, b).
pub fn ln_tails(a: f64, b: f64, at: &Share) -> (f64, f64) {
    if at.x > (a + 1.0) / (a + b + 2.0) {
        let (ln_upper, ln_lower) = ln_tails_left(b, a, &at.swapped());
        (ln_lower, ln_upper)
    } else {
        ln_tails_left(a, b, at)
    }
}

/// Both tails at an x where the continued fraction of the lower one converges fast.
fn ln_tails_left(a: f64, b: f64, at: &Share) -> (f64, f64) {
    let ln_weight = ln_weight(a, b, at);
    let ln_lower = (ln_weight - a.ln() + fraction(a, b, at.x).ln()).min(0.0);
    // With a ≪ 1 nearly all mass lies below x and 1 − I cancels; the other fraction still converges unless x is tiny.
    let cancels = a < 0.5 && ln_lower > -0.1 && at.x > 1e-3;
    let ln_upper = if cancels { ln_weight - b.ln() + fraction(b, a, at.y).ln() } else { ln_one_minus_exp(ln_lower) };
    (ln_lower, ln_upper)
}

/// I_x(a, b) a B(a, b) / (x^a y^b) = 1/(1 + d₁/(1 + d₂/(1 + …))) by Lentz's method,
/// d_{2k+1} = −(a+k)(a+b+k) x / ((a+2k)(a+2k+1)), d_{2k} = k(b−k) x / ((a+2k−1)(a+2k)).
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let mut c = 1.0;
    let mut d = 1.0 / nonzero(1.0 - (a + b) * x / (a + 1.0), TINY);
    let mut value = d;
    for k in 1..TERMS {
        let k = k as f64;
        let even = k * (b - k) * x / ((a + 2.0 * k - 1.0) * (a + 2.0 * k));
        let odd = -(a + k) * (a + b + k) * x / ((a + 2.0 * k) * (a + 2.0 * k + 1.0));
        for term in [even, odd] {
            d = 1.0 / nonzero(1.0 + term * d, TINY);
            c = nonzero(1.0 + term / c, TINY);
            value *= d * c;
        }
        if (d * c - 1.0).abs() < 1e-16 {
            break;
        }
    }
    value
}

/// u = ln(x/y) with I_x(a, b) = p. The density of logit X is log-concave, hence so are both tails, and Newton's method
/// on ln p converges from any start, monotonically after its first step.
pub fn logit_quantile(a: f64, b: f64, level: &Level) -> f64 {
    if level.difference > 0.0 {
        return -logit_quantile(b, a, &level.swapped());
    }
    if level.ln_p == f64::NEG_INFINITY {
        return f64::NEG_INFINITY;
    }
    let mut u = start(a, b, level);
    for _ in 0..200 {
        let at = Share::from_logit(u);
        let ln_p = ln_tails(a, b, &at).0;
        let step = (level.ln_p - ln_p) * (ln_p - ln_weight(a, b, &at)).exp();
        u += step;
        if step.abs() <= NEWTON_STOP * u.abs().max(1.0) {
            break;
        }
    }
    u
}

/// The normal approximation of logit X where it is good; otherwise the left end, I ≈ x^a / (a B(a, b)), but not beyond the mode.
fn start(a: f64, b: f64, level: &Level) -> f64 {
    let mode = (a / b).ln();
    let guess = mode + level.to_normal() * (1.0 / a + 1.0 / b).sqrt();
    if a >= 1.0 && b >= 1.0 && guess > mode - 3.0 {
        return guess;
    }
    let ln_beta = stirling(a) + stirling(b) - stirling(a + b) + LN_SQRT_2PI - 0.5 * (a * b / (a + b)).ln()
        + a * (a / (a + b)).ln()
        + b * (b / (a + b)).ln();
    ((level.ln_p + a.ln() + ln_beta) / a).min(mode)
}
