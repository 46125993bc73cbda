//! The mean of the residuals around each residual: M_j = Σ_k K_jk u_k / Σ_k K_jk, K_jk = exp(-½ |u_j - u_k|²/e_j²).
//!
//! A Gaussian around every residual itself blurs: what is bounded leaks, what is thin gets thick, and quantiles of what is skewed move. Around
//! the local mean instead, errors of order e² cancel and the density stays positive (data sharpening: Choi & Hall, Biometrika 1999). For
//! Gaussian residuals M_j is u_j times a number. Where every residual stands for itself, M_j = u_j.

use crate::Points;
use crate::linalg::products::{combine_rows, transpose};
use crate::linalg::vector::{dot, scaled_gaussian_row};
use rayon::prelude::*;

/// Residuals handled by one task; fixed, so that results do not depend on the number of threads.
const ROWS_PER_TASK: usize = 64;

/// Sums around every residual, ready to leave one out.
#[derive(Debug, Clone)]
pub struct LocalMeans {
    u: Points,
    /// u, one coordinate after the other.
    columns: Vec<f64>,
    /// 1/e_j²; `None` where every residual stands for itself.
    precisions: Option<Vec<f64>>,
    /// Σ_k K_jk u_k, row after row.
    sums: Vec<f64>,
    /// |Σ_k K_jk u_k|².
    squared_sums: Vec<f64>,
    /// Σ_k K_jk, at least K_jj = 1.
    totals: Vec<f64>,
}

impl LocalMeans {
    /// Every residual of `u` (m × n) for itself.
    pub fn themselves(u: &Points) -> Self {
        Self::of_sums(u, vec![], None, u.values().to_vec(), vec![1.0; u.rows()])
    }

    /// Around the residuals `u` (m × n) with 1/e_j² of each. Costs O(m² n).
    pub fn new(u: &Points, precisions: &[f64]) -> Self {
        let (m, n) = (u.rows(), u.columns());
        let (columns, even) = (transpose(u.values(), n), vec![0.0; m]);
        let of_rows = |task: usize| -> (Vec<f64>, Vec<f64>) {
            let rows = task * ROWS_PER_TASK..m.min((task + 1) * ROWS_PER_TASK);
            let mut weights = vec![0.0; rows.len() * m];
            for (row, j) in weights.chunks_mut(m).zip(rows) {
                scaled_gaussian_row(&columns, u.row(j), &vec![precisions[j]; m], &even, row);
            }
            (combine_rows(&weights, u.values(), m), weights.chunks(m).map(|row| row.iter().sum()).collect())
        };
        let tasks: Vec<(Vec<f64>, Vec<f64>)> = (0..m.div_ceil(ROWS_PER_TASK)).into_par_iter().map(of_rows).collect();
        let (sums, totals): (Vec<Vec<f64>>, Vec<Vec<f64>>) = tasks.into_iter().unzip();
        Self::of_sums(u, columns, Some(precisions.to_vec()), sums.concat(), totals.concat())
    }

    fn of_sums(u: &Points, columns: Vec<f64>, precisions: Option<Vec<f64>>, sums: Vec<f64>, totals: Vec<f64>) -> Self {
        let squared_sums = sums.chunks(u.columns()).map(|sum| dot(sum, sum)).collect();
        Self { u: u.clone(), columns, precisions, sums, squared_sums, totals }
    }

    /// M_j of all residuals, row after row.
    pub fn all(&self) -> Vec<f64> {
        let n = self.u.columns();
        self.sums.chunks(n).zip(&self.totals).flat_map(|(sum, total)| sum.iter().map(move |s| s / total)).collect()
    }

    /// Σ_j |M_j|² / Σ_j |u_j|²: how much of the variance is left between the means.
    pub fn spread(&self) -> f64 {
        let all = self.all();
        dot(&all, &all) / dot(self.u.values(), self.u.values())
    }

    /// M_j of all residuals without residuals i, row after row: (Σ_k K_jk u_k - Σ_i K_ji u_i) / (Σ_k K_jk - Σ_i K_ji). Rows i mean nothing.
    pub fn without(&self, some: &[usize]) -> Vec<f64> {
        let near: Vec<Vec<f64>> = some.iter().map(|&i| self.weights_of(i)).collect();
        let mean = |(j, sum): (usize, &[f64])| -> Vec<f64> {
            let total = self.totals[j] - near.iter().map(|near| near[j]).sum::<f64>();
            let taken = |k: usize| near.iter().zip(some).map(|(near, &i)| near[j] * self.u.row(i)[k]).sum::<f64>();
            sum.iter().enumerate().map(|(k, s)| (s - taken(k)) / total).collect()
        };
        self.sums.chunks(self.u.columns()).enumerate().flat_map(mean).collect()
    }

    /// |u_i - s M_j|² for all j, M_j without i; `products` are u_i · Σ_k K_jk u_k. Entry i means nothing.
    pub fn squared_distances(&self, i: usize, s: f64, products: &[f64]) -> Vec<f64> {
        let (near, own) = (self.weights_of(i), dot(self.u.row(i), self.u.row(i)));
        let one = |j: usize| {
            // s M_j = a (sum - K_ji u_i)
            let a = s / (self.totals[j] - near[j]);
            let b = 1.0 + a * near[j];
            (b * b * own - 2.0 * a * b * products[j] + a * a * self.squared_sums[j]).max(0.0)
        };
        (0..self.totals.len()).map(one).collect()
    }

    /// Σ_k K_jk u_k of all residuals, row after row.
    pub fn sums(&self) -> &[f64] {
        &self.sums
    }

    /// K_ji for all j; 0 for i itself, which keeps its total positive.
    fn weights_of(&self, i: usize) -> Vec<f64> {
        let m = self.u.rows();
        let mut near = vec![0.0; m];
        if let Some(precisions) = &self.precisions {
            scaled_gaussian_row(&self.columns, self.u.row(i), precisions, &vec![0.0; m], &mut near);
            near[i] = 0.0;
        }
        near
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::products::rows_dot_rows;
    use crate::random::{Purpose, standard_normal, stream};

    const CLOSE: f64 = 1e-12;

    fn residuals() -> (Points, Vec<f64>) {
        let mut rng = stream(8, Purpose::Experiment, 0);
        let rows: Vec<Vec<f64>> = (0..150).map(|_| (0..2).map(|_| standard_normal(&mut rng)).collect()).collect();
        (Points::from_rows(&rows).unwrap(), (0..150).map(|j| 4.0 + 0.1 * f64::from(j)).collect())
    }

    #[test]
    fn local_means_agree_with_plain_sums() {
        let (u, precisions) = residuals();
        let found = LocalMeans::new(&u, &precisions).all();
        for j in [0, 70, 149] {
            let weight = |k: usize| {
                let squared: f64 = u.row(j).iter().zip(u.row(k)).map(|(a, b)| (a - b).powi(2)).sum();
                (-0.5 * precisions[j] * squared).exp()
            };
            let total: f64 = (0..150).map(weight).sum();
            for d in 0..2 {
                let wanted = (0..150).map(|k| weight(k) * u.row(k)[d]).sum::<f64>() / total;
                assert!((found[2 * j + d] - wanted).abs() < CLOSE);
            }
        }
    }

    #[test]
    fn residuals_that_stand_for_themselves_do_not_move_when_one_is_left_out() {
        let (u, _) = residuals();
        let means = LocalMeans::themselves(&u);
        assert_eq!((means.all(), means.without(&[3])), (u.values().to_vec(), u.values().to_vec()));
    }

    #[test]
    fn leaving_one_out_is_the_same_as_never_having_had_it() {
        let (u, precisions) = residuals();
        let means = LocalMeans::new(&u, &precisions);
        let others: Vec<usize> = (0..150).filter(|&j| j != 33).collect();
        let fewer = LocalMeans::new(&u.select(&others), &others.iter().map(|&j| precisions[j]).collect::<Vec<_>>()).all();
        let without = means.without(&[33]);
        let products = rows_dot_rows(u.row(33), means.sums(), 2);
        let distances = means.squared_distances(33, 0.9, &products);
        for (wanted, &j) in fewer.chunks(2).zip(&others) {
            assert!((without[2 * j] - wanted[0]).abs() < CLOSE && (without[2 * j + 1] - wanted[1]).abs() < CLOSE);
            let squared: f64 = u.row(33).iter().zip(wanted).map(|(u, mean)| (u - 0.9 * mean).powi(2)).sum();
            assert!((distances[j] - squared).abs() < CLOSE, "{} {squared}", distances[j]);
        }
    }
}
