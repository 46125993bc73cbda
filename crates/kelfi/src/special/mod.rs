//! Special functions with both tails in log space: what CDFs and quantiles of priors need far beyond 1e-16.
//!
//! Ours rather than statrs', whose gamma and beta quantiles are wrong in the tails: gamma(0.1) at 10⁻³ gives 9e-10 instead of 6e-31.

/// The regularised incomplete beta function, both tails, and its inverse.
pub mod beta;
/// The regularised incomplete gamma function, both tails, and its inverse.
pub mod gamma;
/// A probability with its complement and both logarithms.
pub mod level;
/// The standard normal distribution in log space.
pub mod normal;
/// How improbable is a value beyond those seen?
pub mod tail;

pub use level::Level;

/// Newton's method ends with a relative step below this: the step's square, times a curvature of at most 10⁵, is beneath rounding.
pub(crate) const NEWTON_STOP: f64 = 1e-11;

/// ln(1 − e^x) for x ≤ 0, without cancellation at either end.
pub(crate) fn ln_one_minus_exp(x: f64) -> f64 {
    if x > -std::f64::consts::LN_2 { (-x.exp_m1()).ln() } else { (-x.exp()).ln_1p() }
}

/// ln(1 + d) − d. `ln_1p_d` is ln(1 + d) as the caller knows it, used where no cancellation threatens.
pub(crate) fn ln_1p_minus(d: f64, ln_1p_d: f64) -> f64 {
    if d.abs() > 0.3 {
        return ln_1p_d - d;
    }
    // ln(1 + d) = 2 (y + y³/3 + y⁵/5 + …) with y = d/(2 + d), and 2y − d = −y d.
    let y = d / (2.0 + d);
    let square = y * y;
    let mut power = y * square;
    let mut sum = 0.0;
    for k in (3..30).step_by(2) {
        sum += power / k as f64;
        power *= square;
    }
    2.0 * sum - y * d
}
