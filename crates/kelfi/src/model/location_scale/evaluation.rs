//! ln q(y|θ) at many θ: what is left of the observation once mean, spread and correlation are taken off, and the density of that.

use super::LocationScaleLikelihood;
use super::inputs::framed;
use super::without::{Without, mean_weights, transformed};
use crate::Points;
use rayon::prelude::*;

/// Queries handled by one task; fixed, so that results do not depend on the number of threads.
pub(super) const QUERIES_PER_TASK: usize = 32;

impl LocationScaleLikelihood {
    /// ln q(y|θ) at points in z coordinates. Queries run in parallel.
    pub fn ln_values(&self, z: &Points) -> Vec<f64> {
        self.by_region(z, Self::own_ln_values)
    }

    fn own_ln_values(&self, z: &Points) -> Vec<f64> {
        let columns = z.columns();
        let tasks: Vec<Vec<f64>> = z
            .values()
            .par_chunks((QUERIES_PER_TASK * columns).max(1))
            .map(|chunk| self.ln_values_of(&Points::new(chunk.to_vec(), chunk.len() / columns, columns).expect("whole rows")))
            .collect();
        tasks.concat()
    }

    fn ln_values_of(&self, z: &Points) -> Vec<f64> {
        let seen = self.seen(z);
        let (u, mut ln) = self.residuals_at(&seen);
        self.add_repeats(&mut ln, &self.fitted.residuals.shape.ln_densities(&seen, &u));
        self.cut_to_region(z, &mut ln);
        ln
    }

    /// Points in z coordinates as regressions see them.
    pub(super) fn seen(&self, z: &Points) -> Points {
        framed(&self.fitted.hyperparameters.inputs, self.fitted.hyperparameters.frame.as_ref(), z)
    }

    /// How many independent repeats an output is.
    pub fn repeats(&self) -> usize {
        self.simulations.repeats()
    }

    /// Adds what each repeat gives, those of one query together, to what queries have.
    pub(super) fn add_repeats(&self, ln: &mut [f64], of_repeats: &[f64]) {
        for (value, of_one) in ln.iter_mut().zip(of_repeats.chunks(self.repeats())) {
            of_one.iter().for_each(|ln| *value += ln);
        }
    }

    /// u(θ), of all repeats, and everything in ln q(y|θ) but the shape.
    pub(super) fn residuals_at(&self, seen: &Points) -> (Points, Vec<f64>) {
        let (u, mut ln) = self.residuals_with(None, seen);
        ln.iter_mut().for_each(|value| *value += self.ln_slope);
        (u, ln)
    }

    /// The same without the slopes of the transforms; of a model without one θ at each row, if given.
    pub(super) fn residuals_with(&self, without: Option<&[&Without<'_>]>, seen: &Points) -> (Points, Vec<f64>) {
        let (n, repeats) = (self.fitted.residuals.statistics.len(), self.repeats());
        let mut u = Points::zeros(seen.rows() * repeats, n);
        let mut ln = vec![-(repeats as f64) * self.fitted.residuals.constant_ln_root(); seen.rows()];
        for (k, (statistic, observed)) in self.fitted.residuals.statistics.iter().zip(self.transformed.chunks(repeats)).enumerate() {
            let (residuals, deviations) = match without {
                Some(models) => statistic.residual_each(&mean_weights(models, k), seen, &transformed(models, k)),
                None => statistic.residual_at(seen, observed),
            };
            residuals.iter().enumerate().for_each(|(row, residual)| u.row_mut(row)[k] = *residual);
            ln.iter_mut().zip(deviations).for_each(|(ln, deviation)| *ln -= deviation);
        }
        let moved = self.fitted.residuals.whiten_at(seen, &mut u);
        ln.iter_mut().zip(moved).for_each(|(ln, root)| *ln -= root);
        if let Some(success) = &self.fitted.success {
            let least = 1.0 / (self.simulations.outputs().rows() as f64 + 2.0);
            for (ln, p) in ln.iter_mut().zip(success.predict(seen).0) {
                *ln += p.clamp(least, 1.0).ln();
            }
        }
        (u, ln)
    }
}

/// The values of statistic `i` in an output of so many repeats.
pub(super) fn repeats_of(output: &[f64], i: usize, repeats: usize) -> impl Iterator<Item = f64> + '_ {
    output[i..].iter().step_by(output.len() / repeats).copied()
}
