//! Predictions with what their gradients need.

use super::{MeanWeights, Regression};
use crate::Points;
use crate::linalg::products::combine_rows;
use crate::linalg::vector::dot;

/// Means and variances at some queries, ready for gradients.
pub struct Traced<'a> {
    queries: Points,
    /// The weights of the mean at each query.
    weights: Vec<&'a MeanWeights>,
    /// ℓ(point j, query), row after row.
    kernel: Vec<f64>,
    /// W g of every query; empty where the fit has no variances.
    images: Vec<f64>,
    /// The mean at each query.
    pub means: Vec<f64>,
    /// The variance of each mean; empty where the fit has none.
    pub variances: Vec<f64>,
}

impl Regression {
    /// [`Regression::predict`], ready for gradients.
    pub fn trace(&self, queries: &Points) -> Traced<'_> {
        self.trace_each(vec![&self.weights; queries.rows()], queries)
    }

    /// [`Regression::predict_each`], ready for gradients.
    pub fn trace_each<'a>(&self, weights: Vec<&'a MeanWeights>, queries: &Points) -> Traced<'a> {
        let (m, size) = (self.points.count(), self.rank + 1 + queries.columns());
        let mut kernel = Vec::with_capacity(m * queries.rows());
        self.kernel_rows(queries, |_, row| kernel.extend_from_slice(row));
        let row = |q: usize| &kernel[q * m..(q + 1) * m];
        let means = weights.iter().zip(queries.iter()).enumerate().map(|(q, (weights, z))| self.mean_of(weights, row(q), z)).collect();
        let mut traced = Traced { queries: queries.clone(), weights, kernel: vec![], images: vec![], means, variances: vec![] };
        if !self.variance_form.is_empty() {
            let mut features = Vec::with_capacity(queries.rows() * size);
            for (q, z) in queries.iter().enumerate() {
                features.extend_from_slice(&row(q)[..self.rank]);
                features.push(1.0);
                features.extend_from_slice(z);
            }
            traced.images = combine_rows(&features, &self.variance_form, size);
            let a2 = self.hyperparameters.curved.powi(2);
            let variance = |((g, image), z): ((&[f64], &[f64]), &[f64])| {
                let own = self.curve.at_itself(&self.curve.coordinates(z));
                self.standard.scale.powi(2) * (a2 * own + dot(g, image)).max(0.0)
            };
            traced.variances = features.chunks(size).zip(traced.images.chunks(size)).zip(queries.iter()).map(variance).collect();
        }
        Traced { kernel, ..traced }
    }

    /// ∂/∂z of `of_mean` times the mean and `of_variance` times its variance at each query, one a row. With W symmetric that of gᵀ W g is
    /// 2 (W g)ᵀ ∂g.
    pub fn pulls(&self, traced: &Traced<'_>, of_mean: &[f64], of_variance: &[f64]) -> Points {
        let (m, dimension, scale) = (self.points.count(), traced.queries.columns(), self.standard.scale);
        let size = self.rank + 1 + dimension;
        let mut curved = vec![0.0; traced.kernel.len()];
        let mut linear = Points::zeros(traced.queries.rows(), dimension);
        for (q, (z, weights)) in traced.queries.iter().zip(&traced.weights).enumerate() {
            let (curved, linear) = (&mut curved[q * m..(q + 1) * m], linear.row_mut(q));
            curved.iter_mut().zip(&weights.curved).for_each(|(c, w)| *c = scale * of_mean[q] * w);
            linear.iter_mut().zip(&weights.linear[1..]).for_each(|(l, w)| *l = scale * of_mean[q] * w);
            if traced.variances.get(q).is_some_and(|variance| *variance > 0.0) {
                let factor = scale * scale * of_variance[q];
                let image = &traced.images[q * size..(q + 1) * size];
                curved.iter_mut().zip(&image[..self.rank]).for_each(|(w, h)| *w += 2.0 * factor * h);
                linear.iter_mut().zip(&image[self.rank + 1..]).for_each(|(w, h)| *w += 2.0 * factor * h);
                let own = factor * self.hyperparameters.curved.powi(2);
                linear.iter_mut().zip(self.curve.pull_at_itself(z)).for_each(|(w, slope)| *w += own * slope);
            }
        }
        let bends = self.curve.pulls(&self.points, &traced.queries, &traced.kernel, &curved);
        linear.values_mut().iter_mut().zip(bends.values()).for_each(|(l, bend)| *l += bend);
        linear
    }
}
