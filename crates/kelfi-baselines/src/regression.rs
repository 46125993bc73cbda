//! Rejection ABC with regression adjustment (Beaumont, Zhang & Balding, Genetics 162, 2002): accepted parameters are moved to where a
//! local linear regression expects them had their statistics been the observed ones.

use crate::nearest::{Acceptance, Nearest};
use kelfi::linalg::Cholesky;
use kelfi::method::{Answer, Method, Particles, Task};
use kelfi::{Error, Points};

/// Ridge on the standardised statistics, per unit of weight: a regression with more statistics than particles still has a solution.
const RIDGE: f64 = 1e-3;
/// A particle for each coefficient would fit noise; so many for each are kept at least.
const PARTICLES_PER_COEFFICIENT: usize = 4;

/// Nearest simulations, weighted by Epanechnikov's kernel of their distance and adjusted linearly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RegressionAdjustment {
    /// How many are kept: more than without adjustment, as the regression removes most of the bias.
    pub acceptance: Acceptance,
}

impl Default for RegressionAdjustment {
    /// A fifth, but at least 50.
    fn default() -> Self {
        Self { acceptance: Acceptance { share: 0.2, least: 50 } }
    }
}

impl Method for RegressionAdjustment {
    fn name(&self) -> &'static str {
        "rejection-regression"
    }

    fn description(&self) -> &'static str {
        "rejection ABC with local linear regression adjustment (Beaumont et al. 2002), nearest 20 % (at least 50)"
    }

    fn reference(&self) -> &'static str {
        "Beaumont, Zhang & Balding, Genetics 162, 2002"
    }

    fn infer(&self, question: &Task<'_>) -> Result<Answer, Error> {
        let coefficients = question.observation.len() + 1;
        let least = self.acceptance.least.max(PARTICLES_PER_COEFFICIENT * coefficients);
        let kept = Nearest::of(question, &Acceptance { least, ..self.acceptance })?;
        let weights = epanechnikov(&kept.distances);
        // In z coordinates the adjusted parameters cannot leave the prior's support.
        let z = question.prior.to_latent_points(&kept.theta)?;
        let adjusted = adjust(&z, &kept.differences, &weights)?;
        Ok(Answer::Particles(Particles::from_latent(question.prior, &adjusted, &weights)?))
    }
}

/// 1 − (d/δ)², δ just beyond the largest distance; equal weights where all distances are equal.
fn epanechnikov(distances: &[f64]) -> Vec<f64> {
    let (near, far) = distances.iter().fold((f64::INFINITY, 0.0_f64), |(near, far), &d| (near.min(d), far.max(d)));
    if far - near <= 1e-12 * far {
        return vec![1.0; distances.len()];
    }
    let far = far * (1.0 + 1e-9);
    distances.iter().map(|d| 1.0 - (d / far).powi(2)).collect()
}

/// z_i − Bᵀ s_i, where (α, B) minimise Σ_i w_i ‖z_i − α − Bᵀ s_i‖² + ridge ‖B‖² and s_i = x_i − y in units of its spread.
fn adjust(z: &Points, s: &Points, weights: &[f64]) -> Result<Points, Error> {
    let (columns, order) = (z.columns(), s.columns() + 1);
    let total: f64 = weights.iter().sum();
    let mut normal = vec![0.0; order * order];
    let mut right = vec![0.0; order * columns];
    for (i, w) in weights.iter().enumerate() {
        let row: Vec<f64> = std::iter::once(1.0).chain(s.row(i).iter().copied()).collect();
        for a in 0..order {
            (0..order).for_each(|b| normal[a * order + b] += w * row[a] * row[b]);
            (0..columns).for_each(|d| right[d * order + a] += w * row[a] * z.row(i)[d]);
        }
    }
    // Statistics differ in how far they spread among the kept: each is penalised in units of that spread.
    for a in 1..order {
        normal[a * order + a] += RIDGE * normal[a * order + a].max(f64::MIN_POSITIVE) + RIDGE * RIDGE * total;
    }
    let factor = Cholesky::new(normal, order).map_err(|bad| bad.error(order, RIDGE))?;
    factor.solve_in_place(&mut right);
    let mut adjusted = z.clone();
    for i in 0..z.rows() {
        for d in 0..columns {
            let slope = &right[d * order + 1..(d + 1) * order];
            adjusted.row_mut(i)[d] -= slope.iter().zip(s.row(i)).map(|(b, s)| b * s).sum::<f64>();
        }
    }
    Ok(adjusted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_that_are_linear_in_the_statistics_are_moved_onto_the_observation() {
        // z = 2 + 3 s₁ − s₂: at s = 0 every particle belongs at 2.
        let s = Points::from_rows(&(0..30).map(|i| vec![f64::from(i % 5) - 2.0, f64::from(i % 7) - 3.0]).collect::<Vec<_>>()).unwrap();
        let z = s.map_rows(1, |s| vec![2.0 + 3.0 * s[0] - s[1]]);
        let adjusted = adjust(&z, &s, &[1.0; 30]).unwrap();
        for value in adjusted.values() {
            assert!((value - 2.0).abs() < 0.02, "{value}");
        }
    }

    #[test]
    fn weights_fall_with_distance_and_nothing_divides_by_zero() {
        let weights = epanechnikov(&[0.0, 1.0, 2.0]);
        assert!((weights[0] - 1.0).abs() < 1e-12 && (weights[1] - 0.75).abs() < 1e-6 && weights[2] > 0.0 && weights[2] < 1e-6);
        assert_eq!(epanechnikov(&[0.0, 0.0]), vec![1.0, 1.0]);
        assert_eq!(epanechnikov(&[2.0, 2.0]), vec![1.0, 1.0]);
    }

    #[test]
    fn a_statistic_that_does_not_vary_among_the_kept_is_no_obstacle() {
        let s = Points::from_rows(&(0..10).map(|i| vec![f64::from(i), 4.0, 0.0]).collect::<Vec<_>>()).unwrap();
        let z = s.map_rows(1, |s| vec![s[0]]);
        assert!(adjust(&z, &s, &[1.0; 10]).unwrap().values().iter().all(|v| v.is_finite()));
    }
}
