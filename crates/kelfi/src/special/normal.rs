//! The standard normal distribution in log space: ln Φ, its inverse and the mass of a tail interval.

use super::{Level, NEWTON_STOP, ln_one_minus_exp};
use std::f64::consts::PI;

/// ln √(2π).
pub const LN_SQRT_2PI: f64 = 0.918_938_533_204_672_8;

/// Beyond this |z| the tail comes from a continued fraction, which also serves where Φ underflows; within it from a series.
const TAIL: f64 = 2.0;

/// ln φ(z).
pub fn ln_density(z: f64) -> f64 {
    -0.5 * z * z - LN_SQRT_2PI
}

/// ln Φ(z), for any z (NaN stays NaN): Φ(−x) = φ(x) / (x + 1/(x + 2/(x + 3/…))) in the tail.
pub fn ln_cdf(z: f64) -> f64 {
    if z == f64::NEG_INFINITY || z.is_nan() {
        z
    } else if z < -TAIL {
        ln_density(z) - tail_fraction(-z).ln()
    } else if z <= TAIL {
        (0.5 + 0.5 * central(z)).ln()
    } else {
        (-ln_cdf(-z).exp()).ln_1p()
    }
}

/// Φ(z), to full relative precision in the lower tail.
pub fn cdf(z: f64) -> f64 {
    if z < -TAIL {
        ln_cdf(z).exp()
    } else if z > TAIL {
        1.0 - ln_cdf(-z).exp()
    } else {
        0.5 + 0.5 * central(z)
    }
}

/// Φ(z) − Φ(−z) = 2 φ(z) (z + z³/3 + z⁵/(3·5) + …), to full relative precision for small z.
pub fn central(z: f64) -> f64 {
    if z.abs() > TAIL {
        return z.signum() * (1.0 - 2.0 * ln_cdf(-z.abs()).exp());
    }
    let (mut sum, mut term) = (z, z);
    for n in 1..60 {
        term *= z * z / (2 * n + 1) as f64;
        sum += term;
        if term.abs() <= 1e-17 * sum.abs() {
            break;
        }
    }
    2.0 * ln_density(z).exp() * sum
}

/// x + 1/(x + 2/(x + 3/…)), the reciprocal of Mills' ratio at x ≥ 2. The error after n terms falls like exp(−2x √(2n)).
fn tail_fraction(x: f64) -> f64 {
    let terms = 10 + (500.0 / (x * x)) as usize;
    (1..=terms).rev().fold(x, |fraction, k| x + k as f64 / fraction)
}

/// The z with Φ(z) = p; ±∞ for p = 0 or 1.
pub fn quantile(level: &Level) -> f64 {
    if level.difference.abs() <= 0.5 {
        central_quantile(level.difference)
    } else if level.difference < 0.0 {
        tail_quantile(level.ln_p)
    } else {
        -tail_quantile(level.ln_q)
    }
}

/// The z with Φ(z) = p for a plain probability.
pub fn quantile_of(p: f64) -> f64 {
    quantile(&Level::from_p(p))
}

/// The z with Φ(z) − Φ(−z) = w, |w| ≤ ½, to full relative precision, by Newton's method.
pub fn central_quantile(w: f64) -> f64 {
    let mut z = (0.5 * PI).sqrt() * w * (1.0 + PI * w * w / 12.0);
    for _ in 0..6 {
        let step = (central(z) - w) * 0.5 * (-ln_density(z)).exp();
        z -= step;
        if step.abs() <= NEWTON_STOP * z.abs() {
            break;
        }
    }
    z
}

/// The z with ln Φ(z) = ln p for p ≤ ¼. ln Φ is concave, so Newton's method converges from any start.
fn tail_quantile(ln_p: f64) -> f64 {
    if ln_p == f64::NEG_INFINITY {
        return f64::NEG_INFINITY;
    }
    // ln Φ(z) ≈ −z²/2 − ln(√(2π) |z|), solved once for z.
    let square = -2.0 * ln_p;
    let mut z = -(square - (2.0 * PI * square).ln()).max(0.25).sqrt();
    for _ in 0..50 {
        let ln_value = ln_cdf(z);
        let step = (ln_p - ln_value) * (ln_value - ln_density(z)).exp();
        z += step;
        if step.abs() <= NEWTON_STOP * z.abs() {
            break;
        }
    }
    z
}

/// ln ∫₀^h exp(−a t − t²/2) dt for a ≥ 0, h ≥ 0: the mass of [a, a + h] in units of φ(a). h may be +∞.
/// Units of φ(a) keep every digit however far out a lies; h is given apart from a because a + h may round to a.
pub fn ln_tail_mass(a: f64, h: f64) -> f64 {
    if h * (a + h) < 4.0 {
        return h.ln() - 0.5 * h * (a + 0.25 * h) + narrow((a + 0.5 * h) * h, h).ln();
    }
    let (ln_here, ln_beyond) = (ln_mills(a), ln_mills(a + h) - h * (a + 0.5 * h));
    if h == f64::INFINITY { ln_here } else { ln_here + ln_one_minus_exp(ln_beyond - ln_here) }
}

/// ln of Mills' ratio Φ(−x)/φ(x) for x ≥ 0.
fn ln_mills(x: f64) -> f64 {
    if x > TAIL { -tail_fraction(x).ln() } else { ln_cdf(-x) - ln_density(x) }
}

/// ∫ exp(−slope u − h² u²/2) du over [−½, ½], by Gauss-Legendre: exact to rounding for slope and h² below 4.
fn narrow(slope: f64, h: f64) -> f64 {
    let integrand = |u: f64| (-slope * u - 0.5 * h * h * u * u).exp();
    GAUSS_LEGENDRE.iter().map(|&(node, weight)| 0.5 * weight * (integrand(0.5 * node) + integrand(-0.5 * node))).sum()
}

/// Positive nodes and weights of the twenty-point rule on [−1, 1].
const GAUSS_LEGENDRE: [(f64, f64); 10] = [
    (0.0765265211334973, 0.1527533871307256),
    (0.22778585114164504, 0.1491729864726036),
    (0.37370608871541955, 0.14209610931838176),
    (0.510867001950827, 0.13168863844917644),
    (0.6360536807265149, 0.11819453196151841),
    (0.7463319064601508, 0.10193011981724026),
    (0.8391169718222189, 0.08327674157670427),
    (0.912234428251326, 0.06267204833410933),
    (0.9639719272779137, 0.04060142980038748),
    (0.9931285991850949, 0.017614007139152687),
];
