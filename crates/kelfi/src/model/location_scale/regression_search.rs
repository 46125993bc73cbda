//! Choosing a, b, s and β of a regression: the maximum of its marginal likelihood on part of the simulations.
//!
//! ln p(t) = -½ tᵀ A⁻¹ t - ½ ln|A| + const, with gradient ½ Σ_ij M_ij ∂A_ij, M = α αᵀ - A⁻¹.

use super::regression::{RegressionHyperparameters, Standard, covariance};
use crate::Points;
use crate::kernel::Kernel;
use crate::linalg::Cholesky;
use crate::linalg::products::combine_rows;
use crate::linalg::vector::dot;
use crate::optimise::{Settings, maximise};

/// Bounds of a, b, s and β.
const CURVED: (f64, f64) = (1e-3, 20.0);
const LINEAR: (f64, f64) = (1e-3, 50.0);
const NOISE: (f64, f64) = (1e-4, 2.0);
const LENGTHS: (f64, f64) = (0.05, 30.0);
const STEPS: usize = 60;
/// A step that gains less than this (in nats over all targets) ends the search.
const GAIN: f64 = 0.02;

/// Length scales before any data: ln β ~ N(ln(1.5 √D), 1), else many of them together fit the noise.
const USUAL_LENGTH: f64 = 1.5;
const LENGTH_SPREAD: f64 = 1.0;

/// Where a search begins when nothing better is known.
pub fn start(dimension: usize) -> RegressionHyperparameters {
    RegressionHyperparameters { curved: 0.5, linear: 1.0, noise: 0.5, length_scales: vec![usual_length(dimension); dimension] }
}

fn usual_length(dimension: usize) -> f64 {
    USUAL_LENGTH * (dimension as f64).sqrt()
}

/// The best hyperparameters found from `start`, and ln p(t) with the prior of the length scales there.
pub fn search(z: &Points, targets: &[f64], relative_noise: &[f64], start: &RegressionHyperparameters) -> (RegressionHyperparameters, f64) {
    let standardised = Standard::of(targets).apply(targets);
    let dimension = z.columns();
    let usual = usual_length(dimension).ln();
    let objective = |p: &[f64]| {
        let (mut value, mut gradient) = value_and_gradient(z, &standardised, relative_noise, &unpack(p));
        for d in 3..p.len() {
            let away = (p[d] - usual) / LENGTH_SPREAD;
            value -= 0.5 * away * away;
            gradient[d] -= away / LENGTH_SPREAD;
        }
        (value, gradient)
    };
    let bounds = |which: fn((f64, f64)) -> f64| -> Vec<f64> {
        [CURVED, LINEAR, NOISE].into_iter().chain(std::iter::repeat_n(LENGTHS, dimension)).map(|b| which(b).ln()).collect()
    };
    let settings = Settings { steps: STEPS, gradient: 1e-2, gain: GAIN, longest: 1.0, first: 0.0 };
    let found = maximise(objective, &pack(start), &bounds(|b| b.0), &bounds(|b| b.1), settings);
    if found.value.is_finite() { (unpack(&found.at), found.value) } else { (start.clone(), found.value) }
}

fn pack(h: &RegressionHyperparameters) -> Vec<f64> {
    [h.curved, h.linear, h.noise].iter().chain(&h.length_scales).map(|v| v.ln()).collect()
}

fn unpack(p: &[f64]) -> RegressionHyperparameters {
    let v: Vec<f64> = p.iter().map(|p| p.exp()).collect();
    RegressionHyperparameters { curved: v[0], linear: v[1], noise: v[2], length_scales: v[3..].to_vec() }
}

fn value_and_gradient(z: &Points, t: &[f64], relative_noise: &[f64], h: &RegressionHyperparameters) -> (f64, Vec<f64>) {
    let failed = || (f64::NAN, vec![f64::NAN; 3 + h.length_scales.len()]);
    let m = z.rows();
    let Ok(kernel) = Kernel::gaussian(h.length_scales.clone()) else { return failed() };
    let gram = kernel.gram(&kernel.scale(z), 0.0);
    let Ok(cholesky) = Cholesky::new(covariance(h, &gram, z, relative_noise), m) else { return failed() };
    let alpha = cholesky.solve(t);
    let value = -0.5 * dot(t, &alpha) - 0.5 * cholesky.ln_determinant();
    // H = M ∘ a² G; the linear and the noise part need M itself.
    let mut inverse = cholesky.inverse_rows(&(0..m).collect::<Vec<_>>());
    let (a2, b2) = (h.curved.powi(2), h.linear.powi(2));
    let mut noise = 0.0;
    for (i, row) in inverse.chunks_mut(m).enumerate() {
        for (j, p) in row.iter_mut().enumerate() {
            *p = alpha[i] * alpha[j] - *p;
        }
        noise += row[i] * h.noise.powi(2) * relative_noise[i];
    }
    let columns = z.columns();
    let zm = combine_rows(&inverse, z.values(), m);
    let tilt = |d: usize| b2 / h.length_scales[d].powi(2) * (0..m).map(|i| z.row(i)[d] * zm[i * columns + d]).sum::<f64>();
    let tilts: Vec<f64> = (0..columns).map(tilt).collect();
    for (value, g) in inverse.iter_mut().zip(&gram) {
        *value *= a2 * g;
    }
    let sums: Vec<f64> = inverse.chunks(m).map(|row| row.iter().sum()).collect();
    let curved: f64 = sums.iter().sum();
    let zh = combine_rows(&inverse, z.values(), m);
    let mut gradient = vec![curved, tilts.iter().sum(), noise];
    for d in 0..columns {
        // ½ Σ_ij H_ij (z_i - z_j)² = Σ_i h_i z_i² - zᵀ H z.
        let squares: f64 = (0..m).map(|i| sums[i] * z.row(i)[d].powi(2) - z.row(i)[d] * zh[i * columns + d]).sum();
        gradient.push(squares / h.length_scales[d].powi(2) - tilts[d]);
    }
    (value, gradient)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check_gradient;

    #[test]
    fn the_gradient_is_that_of_the_value() {
        let rows: Vec<Vec<f64>> = (0..40).map(|i| vec![(i as f64 * 0.7).sin() * 2.0, (i as f64 * 0.37).cos()]).collect();
        let z = Points::from_rows(&rows).unwrap();
        let t: Vec<f64> = rows.iter().map(|r| r[0].sin() + 0.3 * r[1]).collect();
        let w: Vec<f64> = (0..40).map(|i| 0.5 + (i % 3) as f64).collect();
        let p: Vec<f64> = [0.8_f64, 0.4, 0.3, 0.9, 1.7].iter().map(|v| v.ln()).collect();
        check_gradient(|p| value_and_gradient(&z, &t, &w, &unpack(p)), &p, 1e-4).unwrap();
    }
}
