//! The regularised incomplete gamma function in log space, both tails, and its inverse.

use super::normal::LN_SQRT_2PI;
use super::{Level, NEWTON_STOP, ln_1p_minus, ln_one_minus_exp};

/// Terms of a series or continued fraction before giving up; √shape · 9 are needed, so this serves shapes up to 10¹⁰.
const TERMS: usize = 1_000_000;

/// Δ(a) = ln Γ(a) − [(a − ½) ln a − a + ½ ln 2π], Stirling's correction, for a > 0.
pub fn stirling(a: f64) -> f64 {
    if a >= 10.0 {
        return stirling_series(a);
    }
    ln_gamma(a) - ((a - 0.5) * a.ln() - a + LN_SQRT_2PI)
}

/// Asymptotic series of Δ(a); the first term left out is below 1e-16 for a ≥ 10.
fn stirling_series(a: f64) -> f64 {
    const COEFFICIENTS: [f64; 7] = [1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0, -691.0 / 360_360.0, 1.0 / 156.0];
    let inverse_square = 1.0 / (a * a);
    COEFFICIENTS.iter().rev().fold(0.0, |sum, c| sum * inverse_square + c) / a
}

/// ln Γ(a) for a > 0: shifted above 10 by Γ(a + 1) = a Γ(a), then Stirling.
pub fn ln_gamma(a: f64) -> f64 {
    let (mut shifted, mut product) = (a, 1.0);
    while shifted < 10.0 {
        product *= shifted;
        shifted += 1.0;
    }
    (shifted - 0.5) * shifted.ln() - shifted + LN_SQRT_2PI + stirling_series(shifted) - product.ln()
}

/// ln Γ(1 + a) for 0 ≤ a ≤ 1, to full relative precision near 0:
/// −ln(1 + a) + (1 − γ) a + Σ_k (ζ(k) − 1) (−a)^k / k.
pub fn ln_gamma_one_plus(a: f64) -> f64 {
    const ONE_MINUS_EULER: f64 = 0.422_784_335_098_467_14;
    if a > 0.5 {
        return ln_gamma(1.0 + a);
    }
    let mut sum = ONE_MINUS_EULER * a - a.ln_1p();
    let mut power = -a;
    for (k, zeta) in (2..).zip(ZETA_MINUS_ONE) {
        power *= -a;
        sum += zeta * power / k as f64;
    }
    sum
}

/// ζ(k) − 1 for k = 2, 3, …
const ZETA_MINUS_ONE: [f64; 25] = [
    0.6449340668482264,
    0.2020569031595943,
    0.08232323371113819,
    0.03692775514336993,
    0.01734306198444914,
    0.008349277381922827,
    0.00407735619794434,
    0.0020083928260822143,
    0.0009945751278180853,
    0.0004941886041194645,
    0.0002460865533080483,
    0.00012271334757848915,
    6.124813505870483e-05,
    3.058823630702049e-05,
    1.528225940865187e-05,
    7.637197637899763e-06,
    3.81729326499984e-06,
    1.908212716553939e-06,
    9.539620338727962e-07,
    4.769329867878064e-07,
    2.38450502727733e-07,
    1.1921992596531106e-07,
    5.960818905125948e-08,
    2.980350351465228e-08,
    1.4901554828365043e-08,
];

/// ln(x^a e^−x / Γ(a)), the log-density of ln X. Written around x = a, where the plain sum would cancel:
/// a (ln(1+d) − d) + ½ ln(a/2π) − Δ(a), d = (x − a)/a.
pub fn ln_weight(a: f64, ln_x: f64) -> f64 {
    let d = (ln_x.exp() - a) / a;
    let ln_ratio = if d.abs() < 0.5 { d.ln_1p() } else { ln_x - a.ln() };
    a * ln_1p_minus(d, ln_ratio) + 0.5 * a.ln() - LN_SQRT_2PI - stirling(a)
}

/// (ln P(a, x), ln Q(a, x)): the lower and upper regularised incomplete gamma functions at x = e^ln_x.
pub fn ln_tails(a: f64, ln_x: f64) -> (f64, f64) {
    let x = ln_x.exp();
    if x == f64::INFINITY {
        return (0.0, f64::NEG_INFINITY);
    }
    if x < a + 1.0 {
        let ln_p = (ln_weight(a, ln_x) - a.ln() + lower_series(a, x).ln()).min(0.0);
        let small_tail = a < 1.0 && x < 1.1 && ln_p > -0.5;
        (ln_p, if small_tail { upper_small_shape(a, ln_x).ln() } else { ln_one_minus_exp(ln_p) })
    } else {
        let ln_q = (ln_weight(a, ln_x) + upper_fraction(a, x).ln()).min(0.0);
        (ln_one_minus_exp(ln_q), ln_q)
    }
}

/// 1 + x/(a+1) + x²/((a+1)(a+2)) + …
fn lower_series(a: f64, x: f64) -> f64 {
    let (mut sum, mut term) = (1.0, 1.0);
    for n in 1..TERMS {
        term *= x / (a + n as f64);
        sum += term;
        if term < 1e-17 * sum {
            break;
        }
    }
    sum
}

/// 1/(x+1−a − 1(1−a)/(x+3−a − 2(2−a)/(x+5−a − …))) by Lentz's method.
fn upper_fraction(a: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let mut b = x + 1.0 - a;
    let mut c = 1.0 / TINY;
    let mut d = 1.0 / b;
    let mut fraction = d;
    for n in 1..TERMS {
        let n = n as f64;
        let numerator = -n * (n - a);
        b += 2.0;
        d = 1.0 / nonzero(numerator * d + b, TINY);
        c = nonzero(b + numerator / c, TINY);
        fraction *= d * c;
        if (d * c - 1.0).abs() < 1e-16 {
            break;
        }
    }
    fraction
}

/// `value`, moved off zero.
pub(super) fn nonzero(value: f64, tiny: f64) -> f64 {
    if value.abs() < tiny { tiny } else { value }
}

/// Q(a, x) for a < 1 and small x, where 1 − P would cancel: Q = 1 − r − r a Σ_{n≥1} (−x)^n / ((a+n) n!), r = x^a/Γ(1+a).
fn upper_small_shape(a: f64, ln_x: f64) -> f64 {
    let x = ln_x.exp();
    let ln_r = a * ln_x - ln_gamma_one_plus(a);
    let (mut sum, mut power) = (0.0, 1.0);
    for n in 1..40 {
        power *= -x / n as f64;
        sum += power / (a + n as f64);
    }
    -ln_r.exp_m1() - ln_r.exp() * a * sum
}

/// ln x with P(a, x) = p. The density of ln X is log-concave, hence so are both tails, and Newton's method on ln p
/// (or ln q, whichever is the smaller) converges from any start, monotonically after its first step.
pub fn ln_quantile(a: f64, level: &Level) -> f64 {
    let lower = level.difference < 0.0;
    let target = if lower { level.ln_p } else { level.ln_q };
    if target == f64::NEG_INFINITY {
        return if lower { f64::NEG_INFINITY } else { f64::INFINITY };
    }
    let mut u = start(a, level, lower);
    for _ in 0..200 {
        let (ln_p, ln_q) = ln_tails(a, u);
        let (ln_value, sign) = if lower { (ln_p, 1.0) } else { (ln_q, -1.0) };
        let step = sign * (target - ln_value) * (ln_value - ln_weight(a, u)).exp();
        u += step.clamp(-1e6, 2.0_f64.max(0.5 * u.abs()));
        if step.abs() <= NEWTON_STOP * u.abs().max(1.0) {
            break;
        }
    }
    u
}

/// Wilson and Hilferty's cube where it is good; otherwise what each tail looks like at its end.
fn start(a: f64, level: &Level, lower: bool) -> f64 {
    let root = 1.0 - 1.0 / (9.0 * a) + level.to_normal() / (3.0 * a.sqrt());
    if a >= 1.0 && root > 0.2 {
        return a.ln() + 3.0 * root.ln();
    }
    // P ≤ x^a / Γ(a + 1), with equality for x → 0; Q ≈ e^−x for large x.
    if lower { (level.ln_p + ln_gamma(a) + a.ln()) / a } else { (-level.ln_q).ln() }
}
