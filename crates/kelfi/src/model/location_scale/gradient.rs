//! ln q(y|θ) with its gradient in z, in closed form: each part hands on how the logarithm changes with what it gave.
//!
//! With u = C^-½ r, r_k the residual of statistic k and d_k its standard deviation, ln q = ln q_u(u|θ) - Σ_k ln d_k + ln p̂ + const, so that
//! ∂ ln q = Σ_k r̄_k ∂r_k - Σ_k ∂ ln d_k + ∂_θ ln q_u + ∂ ln p̂,   r̄ = C^-½ᵀ ∂_u ln q_u.

use super::regression::Traced;
use super::statistic::TracedResiduals;
use super::{LocationScaleLikelihood, QUERIES_PER_TASK};
use crate::Points;
use crate::linalg::Cholesky;
use rayon::prelude::*;

impl LocationScaleLikelihood {
    /// ln q(y|θ) at points in z coordinates and its gradients, one a row. Costs a few evaluations.
    pub fn ln_values_and_gradients(&self, z: &Points) -> (Vec<f64>, Points) {
        let found = self.by_region(z, Self::own_values_and_gradients);
        let mut gradients = Points::zeros(z.rows(), z.columns());
        found.iter().enumerate().for_each(|(q, (_, gradient))| gradients.row_mut(q).copy_from_slice(gradient));
        (found.into_iter().map(|(ln, _)| ln).collect(), gradients)
    }

    fn own_values_and_gradients(&self, z: &Points) -> Vec<(f64, Vec<f64>)> {
        let columns = z.columns();
        let of_task = |chunk: &[f64]| {
            let part = Points::new(chunk.to_vec(), chunk.len() / columns, columns).expect("whole rows");
            self.values_and_gradients_of(&part)
        };
        z.values().par_chunks((QUERIES_PER_TASK * columns).max(1)).flat_map_iter(of_task).collect()
    }

    fn values_and_gradients_of(&self, z: &Points) -> Vec<(f64, Vec<f64>)> {
        let seen = self.seen(z);
        let residuals = &self.fitted.residuals;
        let traced: Vec<TracedResiduals> =
            residuals.statistics.iter().zip(&self.transformed).map(|(statistic, y)| statistic.trace(&seen, *y)).collect();
        let success = self.fitted.success.as_ref().map(|success| success.trace(&seen));
        let mut ln: Vec<f64> = Vec::with_capacity(z.rows());
        let mut gradients = Vec::with_capacity(z.rows());
        for q in 0..z.rows() {
            let mut u: Vec<f64> = traced.iter().map(|of_one| of_one.residuals[q]).collect();
            residuals.correlation.half_solve_in_place(&mut u);
            let slopes = residuals.shape.slopes(seen.row(q), &u);
            let of_residuals = transposed_half_solve(&residuals.correlation, slopes.in_u);
            let (of_success, mut gradient) = self.success_slopes(success.as_ref(), q, slopes.in_z);
            let mut value = slopes.ln + of_success + self.ln_slope - 0.5 * residuals.correlation.ln_determinant();
            for ((statistic, traced), of_residual) in residuals.statistics.iter().zip(&traced).zip(of_residuals) {
                value -= traced.ln_deviation(q);
                gradient.iter_mut().zip(statistic.pull(traced, q, of_residual)).for_each(|(g, s)| *g += s);
            }
            ln.push(value);
            gradients.push(self.in_z(z.row(q), &gradient));
        }
        self.cut_to_region(z, &mut ln);
        ln.into_iter().zip(gradients).collect()
    }

    /// ln p̂ at query `q`, and a gradient with that of ln p̂ added: none where p̂ is kept within what is possible.
    fn success_slopes(&self, traced: Option<&Traced>, q: usize, gradient: Vec<f64>) -> (f64, Vec<f64>) {
        let (Some(traced), Some(success)) = (traced, &self.fitted.success) else { return (0.0, gradient) };
        let (p, least) = (traced.means[q], 1.0 / (self.simulations.outputs().rows() as f64 + 2.0));
        let slope = if p > least && p < 1.0 { 1.0 / p } else { 0.0 };
        let added = success.pull(traced, q, slope, 0.0).into_iter().zip(gradient).map(|(a, g)| a + g).collect();
        (p.clamp(least, 1.0).ln(), added)
    }

    /// A gradient in what regressions see as one in z.
    fn in_z(&self, z: &[f64], gradient: &[f64]) -> Vec<f64> {
        let hyperparameters = &self.fitted.hyperparameters;
        let framed = hyperparameters.frame.as_ref().map_or_else(|| gradient.to_vec(), |frame| frame.pull(gradient));
        if hyperparameters.inputs.is_empty() {
            return framed;
        }
        hyperparameters.inputs.iter().zip(z).zip(framed).map(|((input, z), g)| g * input.slope(*z)).collect()
    }
}

/// L⁻ᵀ b of the factor L Lᵀ.
fn transposed_half_solve(factor: &Cholesky, mut b: Vec<f64>) -> Vec<f64> {
    for i in (0..b.len()).rev() {
        let known: f64 = (i + 1..b.len()).map(|j| factor.entry(j, i) * b[j]).sum();
        b[i] = (b[i] - known) / factor.entry(i, i);
    }
    b
}
