//! Predictions with what their gradients need.

use super::Regression;
use crate::Points;
use crate::linalg::products::combine_rows;
use crate::linalg::vector::dot;

/// Means and variances at some queries, ready for gradients.
pub struct Traced {
    queries: Points,
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
    pub fn trace(&self, queries: &Points) -> Traced {
        let (m, size) = (self.weights.curved.len(), self.rank + 1 + queries.columns());
        let mut kernel = vec![0.0; m * queries.rows()];
        let (mut means, mut features, mut own) = (vec![], vec![], vec![]);
        for (q, z) in queries.iter().enumerate() {
            let row = &mut kernel[q * m..(q + 1) * m];
            let query = self.curve.coordinates(z);
            self.curve.row(&self.points, &query, row);
            let linear = self.weights.linear[0] + dot(&self.weights.linear[1..], z);
            means.push(self.standard.centre + self.standard.scale * (dot(row, &self.weights.curved) + linear));
            own.push(self.curve.at_itself(&query));
            features.extend_from_slice(&row[..self.rank]);
            features.push(1.0);
            features.extend_from_slice(z);
        }
        if self.variance_form.is_empty() {
            return Traced { queries: queries.clone(), kernel, images: vec![], means, variances: vec![] };
        }
        let images = combine_rows(&features, &self.variance_form, size);
        let a2 = self.hyperparameters.curved.powi(2);
        let variance = |((g, image), own): ((&[f64], &[f64]), &f64)| self.standard.scale.powi(2) * (a2 * own + dot(g, image)).max(0.0);
        let variances = features.chunks(size).zip(images.chunks(size)).zip(&own).map(variance).collect();
        Traced { queries: queries.clone(), kernel, images, means, variances }
    }

    /// ∂/∂z of `of_mean` times the mean and `of_variance` times its variance at query `q`. With W symmetric that of gᵀ W g is 2 (W g)ᵀ ∂g.
    pub fn pull(&self, traced: &Traced, q: usize, of_mean: f64, of_variance: f64) -> Vec<f64> {
        let (m, z) = (self.weights.curved.len(), traced.queries.row(q));
        let scale = self.standard.scale;
        let mut curved: Vec<f64> = self.weights.curved.iter().map(|w| scale * of_mean * w).collect();
        let mut linear: Vec<f64> = self.weights.linear[1..].iter().map(|w| scale * of_mean * w).collect();
        let flat = traced.variances.get(q).is_none_or(|variance| *variance <= 0.0);
        if !flat {
            let (size, factor) = (self.rank + 1 + z.len(), scale * scale * of_variance);
            let image = &traced.images[q * size..(q + 1) * size];
            curved.iter_mut().zip(&image[..self.rank]).for_each(|(w, h)| *w += 2.0 * factor * h);
            linear.iter_mut().zip(&image[self.rank + 1..]).for_each(|(w, h)| *w += 2.0 * factor * h);
            let own = factor * self.hyperparameters.curved.powi(2);
            linear.iter_mut().zip(self.curve.pull_at_itself(z)).for_each(|(w, slope)| *w += own * slope);
        }
        let bend = self.curve.pull(&self.points, z, &traced.kernel[q * m..(q + 1) * m], &curved);
        linear.iter().zip(bend).map(|(a, b)| a + b).collect()
    }
}
