//! ln q(y|θ) with its gradient in z, in closed form: each part hands on how the logarithm changes with what it gave.
//!
//! With u = v^-½ C^-½ r, r_k the residual of statistic k, d_k its standard deviation and v the variance that all share,
//! ln q = ln q_u(u|θ) - Σ_k ln d_k - n/2 ln v + ln p̂ + const, so that
//! ∂ ln q = Σ_k r̄_k ∂r_k - Σ_k ∂ ln d_k - ½ (n + u·∂_u ln q_u) ∂ ln v + ∂_θ ln q_u + ∂ ln p̂,   r̄ = v^-½ C^-½ᵀ ∂_u ln q_u.

use super::statistic::{Statistic, TracedResiduals};
use super::without::{Without, mean_weights, omissions, transformed};
use super::{LocationScaleLikelihood, QUERIES_PER_TASK};
use crate::Points;
use crate::linalg::Cholesky;
use crate::linalg::vector::dot;
use rayon::prelude::*;

impl LocationScaleLikelihood {
    /// Whether there is a closed form: there is none where a correlation moves, and none has been written for repeats.
    pub(super) fn has_gradients(&self) -> bool {
        self.repeats() == 1 && self.hyperparameters().moving.is_empty()
    }

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
            let (mut ln, gradients) = self.values_and_gradients_of(None, &part);
            ln.iter_mut().for_each(|ln| *ln += self.ln_slope);
            self.cut_to_region(&part, &mut ln);
            ln.into_iter().zip(gradients).collect::<Vec<_>>()
        };
        z.values().par_chunks((QUERIES_PER_TASK * columns).max(1)).flat_map_iter(of_task).collect()
    }

    /// ln q without the slopes of the transforms, and its gradients; of a model without one θ at each row, if given.
    pub(super) fn values_and_gradients_of(&self, without: Option<&[&Without<'_>]>, z: &Points) -> (Vec<f64>, Vec<Vec<f64>>) {
        let (seen, residuals) = (self.seen(z), &self.fitted.residuals);
        let trace = |(k, statistic)| {
            let statistic: &Statistic = statistic;
            match without {
                Some(models) => statistic.trace(Some(mean_weights(models, k)), &seen, &transformed(models, k)),
                None => statistic.trace(None, &seen, &vec![&self.transformed[k..=k]; z.rows()]),
            }
        };
        let traced: Vec<TracedResiduals<'_>> = residuals.statistics.iter().enumerate().map(trace).collect();
        let omitted = without.map(omissions);
        let mut ln = vec![-0.5 * residuals.correlation.ln_determinant(); z.rows()];
        let mut gradients = Points::zeros(z.rows(), seen.columns());
        let mut of_residuals = Points::zeros(traced.len(), z.rows());
        let common = residuals.common.as_ref().map(|common| (common, common.trace(&seen)));
        let mut of_spread = vec![0.0; z.rows()];
        for q in 0..z.rows() {
            let mut u: Vec<f64> = traced.iter().map(|of_one| of_one.residuals[q]).collect();
            residuals.correlation.half_solve_in_place(&mut u);
            let variance = common.as_ref().map_or(1.0, |(_, (variances, _))| variances[q]);
            u.iter_mut().for_each(|u| *u /= variance.sqrt());
            let slopes = residuals.shape.slopes(omitted.as_ref().map(|omitted| omitted[q]), seen.row(q), &u);
            // Residuals go with v^-½, and the density is that of u over v^(n/2).
            of_spread[q] = -0.5 * (u.len() as f64 + dot(&slopes.in_u, &u));
            ln[q] += slopes.ln - 0.5 * u.len() as f64 * variance.ln();
            let in_residuals = transposed_half_solve(&residuals.correlation, slopes.in_u);
            in_residuals.into_iter().enumerate().for_each(|(k, slope)| of_residuals.row_mut(k)[q] = slope / variance.sqrt());
            gradients.row_mut(q).copy_from_slice(&slopes.in_z);
        }
        let mut add = |added: &Points| gradients.values_mut().iter_mut().zip(added.values()).for_each(|(g, a)| *g += a);
        for (k, (statistic, traced)) in residuals.statistics.iter().zip(&traced).enumerate() {
            ln.iter_mut().enumerate().for_each(|(q, ln)| *ln -= traced.ln_deviation(q));
            add(&statistic.pulls(traced, of_residuals.row(k)));
        }
        if let Some((common, (variances, traced))) = &common {
            add(&common.pulls(traced, variances, &of_spread));
        }
        if let Some((of_success, slopes)) = self.success_slopes(&seen) {
            ln.iter_mut().zip(of_success).for_each(|(ln, added)| *ln += added);
            add(&slopes);
        }
        (ln, gradients.iter().zip(z.iter()).map(|(gradient, z)| self.in_z(z, gradient)).collect())
    }

    /// ln p̂ at each query with its gradient, where some simulations failed: none where p̂ is kept within what is possible.
    fn success_slopes(&self, seen: &Points) -> Option<(Vec<f64>, Points)> {
        let success = self.fitted.success.as_ref()?;
        let (traced, least) = (success.trace(seen), 1.0 / (self.simulations.outputs().rows() as f64 + 2.0));
        let slope = |&p: &f64| if p > least && p < 1.0 { 1.0 / p } else { 0.0 };
        let slopes: Vec<f64> = traced.means.iter().map(slope).collect();
        let ln = traced.means.iter().map(|p| p.clamp(least, 1.0).ln()).collect();
        Some((ln, success.pulls(&traced, &slopes, &vec![0.0; slopes.len()])))
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
