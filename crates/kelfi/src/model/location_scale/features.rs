//! A Gaussian process by few features: A = F Fᵀ + N with rows f_i = (a φ_i, 1, b z_i/β), φ the features of [`Pivots`], N the noise.
//!
//! With S = (I + Fᵀ N⁻¹ F)⁻¹ and w = S Fᵀ N⁻¹ t, everything of A⁻¹ that a regression needs costs O(m r²) instead of O(m³):
//!
//! - mean at z: f(z)·w
//! - leverage h_i = f_iᵀ S f_i / N_i; without simulation i its residual is (t_i - f_i·w) / (1 - h_i), of variance N_i / (1 - h_i)
//! - weights without simulation i: w - S f_i r_i / N_i, r_i that residual

use super::pivots::Pivots;
use super::regression::{MeanWeights, RegressionHyperparameters};
use crate::Points;
use crate::linalg::Cholesky;
use crate::linalg::products::{combine_rows, transpose};
use crate::linalg::vector::dot;

/// 1 - h is at least this: a simulation that alone decides its own prediction says nothing without itself.
const LEAST_FREEDOM: f64 = 1e-9;

/// F, N and the factorised S⁻¹.
pub struct Features {
    hyperparameters: RegressionHyperparameters,
    pivots: Pivots,
    /// f_i, row after row.
    rows: Vec<f64>,
    size: usize,
    noise: Vec<f64>,
    information: Cholesky,
}

impl Features {
    /// `None` where S⁻¹ cannot be factored. `noise` are the variances N_i.
    pub fn new(pivots: Pivots, z: &Points, noise: Vec<f64>, hyperparameters: &RegressionHyperparameters) -> Option<Self> {
        let (r, dimension) = (pivots.rank(), z.columns());
        let size = r + 1 + dimension;
        let slopes = hyperparameters.slopes();
        let mut rows = Vec::with_capacity(z.rows() * size);
        for (i, z) in z.iter().enumerate() {
            rows.extend(pivots.factor[i * r..(i + 1) * r].iter().map(|phi| hyperparameters.curved * phi));
            rows.push(1.0);
            rows.extend(z.iter().zip(&slopes).map(|(z, slope)| slope * z));
        }
        let whitened: Vec<f64> =
            rows.chunks(size).zip(&noise).flat_map(|(row, n)| row.iter().map(|f| f / n.sqrt()).collect::<Vec<_>>()).collect();
        let mut information = combine_rows(&transpose(&whitened, size), &whitened, z.rows());
        (0..size).for_each(|k| information[k * size + k] += 1.0);
        let information = Cholesky::new(information, size).ok()?;
        Some(Self { hyperparameters: hyperparameters.clone(), pivots, rows, size, noise, information })
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
        let covariance = self.information.inverse();
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

    /// Weights of features as weights of kernel values with the pivots, of 1 and of z.
    pub fn mean_weights(&self, weights: &[f64]) -> MeanWeights {
        let r = self.pivots.rank();
        let curved: Vec<f64> = weights[..r].iter().map(|w| self.hyperparameters.curved * w).collect();
        let mut linear = vec![weights[r]];
        linear.extend(weights[r + 1..].iter().zip(self.hyperparameters.slopes()).map(|(w, slope)| w * slope));
        MeanWeights { curved: combine_rows(&curved, &self.pivots.to_features(), r.max(1)), linear }
    }

    /// W of Var[mean(z)] = a² ℓ(z,z) + gᵀ W g, g = (kernel values with the pivots, 1, z):
    /// a² (ℓ(z,z) - |φ|²) + fᵀ S f, so what the pivots miss counts as unknown.
    pub fn variance_form(&self) -> Vec<f64> {
        let (r, size) = (self.pivots.rank(), self.size);
        let mut covariance = self.information.inverse();
        (0..r).for_each(|k| covariance[k * size + k] -= 1.0);
        // f = B g, B = diag(a L⁻¹, 1, b/β).
        let to_features = self.pivots.to_features();
        let mut b_matrix = vec![0.0; size * size];
        for i in 0..r {
            for j in 0..=i {
                b_matrix[i * size + j] = self.hyperparameters.curved * to_features[i * r + j];
            }
        }
        b_matrix[r * size + r] = 1.0;
        for (d, slope) in self.hyperparameters.slopes().into_iter().enumerate() {
            b_matrix[(r + 1 + d) * size + r + 1 + d] = slope;
        }
        combine_rows(&transpose(&b_matrix, size), &combine_rows(&covariance, &b_matrix, size), size)
    }
}
