//! A Gaussian process by few features: A = F Fᵀ + N with a row f_i per target and the diagonal N of noise variances.
//!
//! With S = (I + Fᵀ N⁻¹ F)⁻¹ and w = S Fᵀ N⁻¹ t, everything of A⁻¹ that a regression needs costs O(m r²) instead of O(m³):
//!
//! - mean at features f: f·w
//! - leverage h_i = f_iᵀ S f_i / N_i; without target i its residual is (t_i - f_i·w) / (1 - h_i), of variance N_i / (1 - h_i)
//! - weights without target i: w - S f_i r_i / N_i, r_i that residual

use crate::linalg::Cholesky;
use crate::linalg::products::{combine_rows, transpose};
use crate::linalg::vector::dot;

/// 1 - h is at least this: a target that alone decides its own prediction says nothing without itself.
const LEAST_FREEDOM: f64 = 1e-9;

/// F, N and the factorised S⁻¹.
pub struct Features {
    /// f_i, row after row.
    rows: Vec<f64>,
    size: usize,
    noise: Vec<f64>,
    information: Cholesky,
}

impl Features {
    /// `rows` are of `size` features each, `noise` the variances N_i. `None` where S⁻¹ cannot be factored.
    pub fn new(rows: Vec<f64>, size: usize, noise: Vec<f64>) -> Option<Self> {
        let whitened: Vec<f64> =
            rows.chunks(size).zip(&noise).flat_map(|(row, n)| row.iter().map(|f| f / n.sqrt()).collect::<Vec<_>>()).collect();
        let mut information = combine_rows(&transpose(&whitened, size), &whitened, noise.len());
        (0..size).for_each(|k| information[k * size + k] += 1.0);
        let information = Cholesky::new(information, size).ok()?;
        Some(Self { rows, size, noise, information })
    }

    /// Features per target.
    pub fn size(&self) -> usize {
        self.size
    }

    /// S.
    pub fn covariance(&self) -> Vec<f64> {
        self.information.inverse()
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.rows[i * self.size..(i + 1) * self.size]
    }

    /// w.
    pub fn weights(&self, targets: &[f64]) -> Vec<f64> {
        let mut sum = vec![0.0; self.size];
        for (i, t) in targets.iter().enumerate() {
            for (sum, f) in sum.iter_mut().zip(self.row(i)) {
                *sum += f * t / self.noise[i];
            }
        }
        self.information.solve_in_place(&mut sum);
        sum
    }

    /// ln p(t) = -½ tᵀA⁻¹t - ½ ln|A| up to a constant, and its derivatives in the logarithms of the factor of each feature and of all noise
    /// (`noisy_part` is what of each N_i scales with it): with Fᵀ A⁻¹ t = w and Fᵀ A⁻¹ F = I - S,
    /// w_k² - (1 - S_kk) and Σ_i n_i (α_i² - P_ii), α_i = (t_i - f_i·w)/N_i, P_ii = (1 - h_i)/N_i.
    pub fn evidence(&self, targets: &[f64], noisy_part: &[f64]) -> (f64, Vec<f64>, f64) {
        let weights = self.weights(targets);
        let covariance = self.covariance();
        let mut halves = self.rows.clone();
        self.information.half_solve_in_place(&mut halves);
        let (mut value, mut of_noise) = (-0.5 * self.information.ln_determinant(), 0.0);
        for (i, (half, t)) in halves.chunks(self.size).zip(targets).enumerate() {
            let n = self.noise[i];
            let alpha = (t - dot(self.row(i), &weights)) / n;
            value -= 0.5 * (t * alpha + n.ln());
            of_noise += noisy_part[i] * (alpha * alpha - (1.0 - dot(half, half) / n) / n);
        }
        let slopes = weights.iter().enumerate().map(|(k, w)| w * w - (1.0 - covariance[k * self.size + k])).collect();
        (value, slopes, of_noise)
    }

    /// Residual of each target without it, and its variance.
    pub fn leave_one_out(&self, targets: &[f64], weights: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut halves = self.rows.clone();
        self.information.half_solve_in_place(&mut halves);
        let one = |(i, half): (usize, &[f64])| {
            let freedom = (1.0 - dot(half, half) / self.noise[i]).max(LEAST_FREEDOM);
            ((targets[i] - dot(self.row(i), weights)) / freedom, self.noise[i] / freedom)
        };
        halves.chunks(self.size).enumerate().map(one).unzip()
    }

    /// S f_i / N_i: how the weights follow target `i`.
    pub fn influence(&self, i: usize) -> Vec<f64> {
        let mut image = self.row(i).to_vec();
        self.information.solve_in_place(&mut image);
        image.iter_mut().for_each(|s| *s /= self.noise[i]);
        image
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_and_residuals_are_those_of_the_dense_matrix() {
        let (m, size) = (7, 2);
        let rows: Vec<f64> = (0..m * size).map(|k| (k as f64 * 1.3).sin()).collect();
        let noise: Vec<f64> = (0..m).map(|i| 0.1 + 0.05 * i as f64).collect();
        let targets: Vec<f64> = (0..m).map(|i| (i as f64).cos()).collect();
        let at = |i: usize, j: usize| dot(&rows[i * size..(i + 1) * size], &rows[j * size..(j + 1) * size]);
        let dense = (0..m * m).map(|k| at(k / m, k % m) + if k / m == k % m { noise[k / m] } else { 0.0 }).collect();
        let dense = Cholesky::new(dense, m).unwrap();
        let (alpha, diagonal) = (dense.solve(&targets), dense.inverse_diagonal());
        let features = Features::new(rows.clone(), size, noise).unwrap();
        let weights = features.weights(&targets);
        for (k, w) in weights.iter().enumerate() {
            let expected: f64 = (0..m).map(|i| rows[i * size + k] * alpha[i]).sum();
            assert!((w - expected).abs() < 1e-12);
        }
        let (residuals, variances) = features.leave_one_out(&targets, &weights);
        for i in 0..m {
            assert!((residuals[i] - alpha[i] / diagonal[i]).abs() < 1e-12 && (variances[i] - 1.0 / diagonal[i]).abs() < 1e-12);
        }
    }
}
