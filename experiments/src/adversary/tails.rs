//! Noise that is not normal: heavy tails, outliers, sentinels, skewness.

use super::case::Case;
use super::densities::{gauss, ln_normal, ln_student, ln_sum, standard_prior, student, unit};
use rand::Rng;

/// All of them.
pub fn cases() -> Vec<Case> {
    vec![
        student_noise("student_3", "a parameter seen with t noise of 3 degrees of freedom", 3.0, 1),
        student_noise("student_3_twice", "a parameter seen twice with t noise of 3 degrees of freedom", 3.0, 2),
        laplace(),
        skewed(),
        student_noise("cauchy", "a parameter seen with Cauchy noise", 1.0, 1).unusual(),
        outliers().unusual(),
        sentinel().unusual(),
        exploding().unusual(),
    ]
}

fn student_noise(name: &'static str, about: &'static str, df: f64, times: usize) -> Case {
    const SCALE: f64 = 0.4;
    Case::usual(
        name,
        about,
        standard_prior(1),
        move |theta, rng| (0..times).map(|_| theta[0] + SCALE * student(rng, df)).collect(),
        move |theta, x| x.iter().map(|&x| ln_student(x, theta[0], SCALE, df)).sum(),
    )
}

fn laplace() -> Case {
    const SCALE: f64 = 0.4;
    Case::usual(
        "laplace",
        "a parameter seen with Laplace noise",
        standard_prior(1),
        |theta, rng| {
            let u = 2.0 * unit(rng) - 1.0;
            vec![theta[0] - SCALE * u.signum() * (1.0 - u.abs()).max(f64::MIN_POSITIVE).ln()]
        },
        |theta, x| -(x[0] - theta[0]).abs() / SCALE,
    )
}

/// A statistic that is strongly skewed whatever θ is.
fn skewed() -> Case {
    Case::usual(
        "skewed",
        "a parameter seen with exponential noise, always above it",
        standard_prior(1),
        |theta, rng| vec![theta[0] - 0.5 * unit(rng).ln()],
        |theta, x| if x[0] >= theta[0] { -(x[0] - theta[0]) / 0.5 } else { f64::NEG_INFINITY },
    )
}

/// Six draws, of which each is from a wide noise with chance one half.
fn outliers() -> Case {
    const SD: [f64; 2] = [0.3, 5.0];
    Case::usual(
        "outliers",
        "six raw draws around a parameter, each from a wide noise with chance one half",
        standard_prior(1),
        |theta, rng| (0..6).map(|_| theta[0] + SD[usize::from(unit(rng) < 0.5)] * gauss(rng)).collect(),
        |theta, x| x.iter().map(|&x| ln_sum(ln_normal(x, theta[0], SD[0]), ln_normal(x, theta[0], SD[1]))).sum(),
    )
}

/// With chance 0.1 the instrument gives -999.
fn sentinel() -> Case {
    const MISSING: f64 = -999.0;
    let seen = |t: f64, rng: &mut dyn Rng| if unit(rng) < 0.1 { MISSING } else { t + 0.4 * gauss(rng) };
    let ln = |t: f64, x: f64| if x == MISSING { 0.0 } else { ln_normal(x, t, 0.4) };
    Case::usual(
        "sentinel",
        "a parameter seen twice; a tenth of the values is -999",
        standard_prior(1),
        move |theta, rng| (0..2).map(|_| seen(theta[0], rng)).collect(),
        move |theta, x| x.iter().map(|&x| ln(theta[0], x)).sum(),
    )
}

fn exploding() -> Case {
    Case::usual(
        "exploding",
        "the exponential of three times a parameter with noise: over six orders of magnitude",
        standard_prior(1),
        |theta, rng| vec![(3.0 * theta[0] + gauss(rng)).exp()],
        |theta, x| if x[0] > 0.0 { ln_normal(x[0].ln(), 3.0 * theta[0], 1.0) } else { f64::NEG_INFINITY },
    )
}
