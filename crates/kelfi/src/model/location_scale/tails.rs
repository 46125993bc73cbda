//! Tails heavier than a Gaussian's: how noisy each simulation was, told by its own residual.
//!
//! Standardised residuals with a t distribution of ν degrees of freedom and scale τ are Gaussian ones, each with a variance of its own. Given
//! a residual u of n statistics its precision is expected to be (ν + n)/(ν + |u|²/τ²) of the common one: regressions that know it are not
//! dragged along by the few simulations far out, and lean on the many that came close.

use super::constants::tails::{FREEDOMS, MARGIN, MARGIN_EACH, STEPS};
use super::statistic::Statistic;
use crate::Points;
use crate::linalg::vector::dot;
use crate::special::gamma::ln_gamma;

/// Noise variances of every simulation relative to their mean, for each statistic; `None` where Gaussian tails will do.
///
/// `u` are the residuals whitened. All statistics of a simulation share a variance, or each has its own, whichever is likelier.
pub fn relative_noise(statistics: &[Statistic], u: &Points) -> Vec<Option<Vec<f64>>> {
    let together = heavy(&u.iter().map(|u| dot(u, u)).collect::<Vec<_>>(), u.columns());
    let of_one = |statistic: &Statistic| heavy(&statistic.standardised().iter().map(|t| t * t).collect::<Vec<_>>(), 1);
    let apart: Vec<Option<Heavy>> = statistics.iter().map(of_one).collect();
    let gain_apart: f64 = apart.iter().flatten().map(|heavy| heavy.gain).sum();
    let worthwhile = MARGIN_EACH * u.rows() as f64;
    match together {
        Some(together) if together.gain >= gain_apart.max(worthwhile) => vec![Some(together.relative_noise); statistics.len()],
        _ if gain_apart >= worthwhile => apart.into_iter().map(|heavy| heavy.map(|heavy| heavy.relative_noise)).collect(),
        _ => vec![None; statistics.len()],
    }
}

/// Whether heavy tails of each whitened residual on its own are clearly likelier than those of all of a simulation's together.
pub fn are_apart(u: &Points) -> bool {
    let together = heavy(&u.iter().map(|u| dot(u, u)).collect::<Vec<_>>(), u.columns()).map_or(0.0, |heavy| heavy.gain);
    let of_one = |k: usize| heavy(&u.column(k).iter().map(|t| t * t).collect::<Vec<_>>(), 1).map_or(0.0, |heavy| heavy.gain);
    (0..u.columns()).map(of_one).sum::<f64>() > together + MARGIN_EACH * u.rows() as f64
}

struct Heavy {
    /// Nats over a Gaussian.
    gain: f64,
    relative_noise: Vec<f64>,
}

/// The likeliest t distribution of residuals with these squared lengths, if it is clearly likelier than a Gaussian of the same variance.
fn heavy(squared_radii: &[f64], n: usize) -> Option<Heavy> {
    let (n, m) = (n as f64, squared_radii.len() as f64);
    let variance = squared_radii.iter().sum::<f64>() / (n * m);
    let gaussian = -0.5 * n * m * ((std::f64::consts::TAU * variance).ln() + 1.0);
    let fitted = |&freedom: &f64| {
        let scale = squared_scale(squared_radii, n, freedom, variance);
        (ln_likelihood(squared_radii, n, freedom, scale), freedom, scale)
    };
    let (ln_likelihood, freedom, scale) = FREEDOMS.iter().map(fitted).max_by(|a, b| a.0.total_cmp(&b.0))?;
    let gain = ln_likelihood - gaussian;
    (gain > MARGIN).then(|| {
        let raw: Vec<f64> = squared_radii.iter().map(|r2| freedom + r2 / scale).collect();
        let mean = raw.iter().sum::<f64>() / m;
        Heavy { gain, relative_noise: raw.into_iter().map(|f| f / mean).collect() }
    })
}

/// τ² = 1/(mn) Σ_i |u_i|² (ν + n)/(ν + |u_i|²/τ²), by iteration.
fn squared_scale(squared_radii: &[f64], n: f64, freedom: f64, variance: f64) -> f64 {
    let mut scale = variance;
    for _ in 0..STEPS {
        let weighted: f64 = squared_radii.iter().map(|r2| r2 * (freedom + n) / (freedom + r2 / scale)).sum();
        scale = (weighted / (n * squared_radii.len() as f64)).max(f64::MIN_POSITIVE);
    }
    scale
}

/// Of a t distribution in n dimensions.
fn ln_likelihood(squared_radii: &[f64], n: f64, freedom: f64, scale: f64) -> f64 {
    let half = 0.5 * (freedom + n);
    let normaliser = ln_gamma(half) - ln_gamma(0.5 * freedom) - 0.5 * n * (freedom * std::f64::consts::PI * scale).ln();
    squared_radii.iter().map(|r2| normaliser - half * (r2 / (freedom * scale)).ln_1p()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, standard_normal, stream};

    /// Squared lengths of 400 residuals of two statistics, every other one ten times as wide.
    fn squared_radii(wide: f64) -> Vec<f64> {
        let mut rng = stream(9, Purpose::Experiment, 0);
        let of_one = |i: usize| {
            let std = [wide, 1.0][i % 2];
            (0..2).map(|_| (std * standard_normal(&mut rng)).powi(2)).sum()
        };
        (0..400).map(of_one).collect()
    }

    #[test]
    fn wide_residuals_are_noisy_ones_and_gaussian_ones_all_the_same() {
        assert!(heavy(&squared_radii(1.0), 2).is_none());
        let found = heavy(&squared_radii(10.0), 2).unwrap();
        assert!(found.gain > 100.0, "{}", found.gain);
        assert!((found.relative_noise.iter().sum::<f64>() / 400.0 - 1.0).abs() < 1e-12);
        let mean = |odd: usize| found.relative_noise.iter().skip(odd).step_by(2).sum::<f64>() / 200.0;
        assert!(mean(0) / mean(1) > 20.0, "{} {}", mean(0), mean(1));
    }

    #[test]
    fn tails_are_apart_where_statistics_are_wide_by_themselves_and_not_where_simulations_are() {
        let mut rng = stream(9, Purpose::Experiment, 1);
        let mut rows = |wide: fn(usize, usize) -> bool| {
            let mut of_one =
                |i: usize| -> Vec<f64> { (0..3).map(|k| standard_normal(&mut rng) * if wide(i, k) { 10.0 } else { 1.0 }).collect() };
            Points::from_rows(&(0..300).map(&mut of_one).collect::<Vec<_>>()).unwrap()
        };
        assert!(are_apart(&rows(|i, k| (i >> k) % 2 == 0)));
        assert!(!are_apart(&rows(|i, _| i % 2 == 0)) && !are_apart(&rows(|_, _| false)));
    }

    #[test]
    fn the_likelihood_integrates_to_one_and_the_scale_makes_it_largest() {
        let density = |r: f64| ln_likelihood(&[r * r], 1.0, 3.0, 0.7).exp();
        let total: f64 = (-200_000..=200_000).map(|k| 0.01 * density(0.01 * f64::from(k))).sum();
        assert!((total - 1.0).abs() < 1e-6, "{total}");
        let r2 = squared_radii(10.0);
        let scale = squared_scale(&r2, 2.0, 2.0, 1.0);
        let best = ln_likelihood(&r2, 2.0, 2.0, scale);
        assert!(best > ln_likelihood(&r2, 2.0, 2.0, 1.1 * scale) && best > ln_likelihood(&r2, 2.0, 2.0, 0.9 * scale));
    }
}
