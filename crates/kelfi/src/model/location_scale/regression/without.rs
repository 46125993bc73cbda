//! The mean without some of the targets.

use super::{MeanWeights, Regression, factor, noise_beside, pivots};
use crate::model::location_scale::constants::regression::{LEAST_UNKNOWN, MOST_PIVOTS};
use crate::model::location_scale::features::RegressionFeatures;
use crate::{Error, Points};

impl Regression {
    /// The weights of the mean without each of these groups of targets at one z, hyperparameters kept: α - Σ_g P_g r_g with the residuals r
    /// without the group, for a single target α - P_i α_i/P_ii. `z` and `relative_noise` as fitted.
    pub fn without(&self, z: &Points, relative_noise: &[f64], groups: &[Vec<usize>]) -> Result<Vec<MeanWeights>, Error> {
        let less = |group: &Vec<usize>, step: &dyn Fn(usize) -> MeanWeights| {
            let residuals = self.residuals_without(relative_noise, group);
            group.iter().zip(residuals).fold(self.weights.clone(), |weights, (&g, r)| weights.less(r / self.standard.scale, &step(g)))
        };
        if self.order.len() < z.rows() {
            let pivots = pivots(&self.curve, z, &self.hyperparameters, MOST_PIVOTS);
            let noise = noise_beside(&pivots, &self.curve, z, relative_noise, &self.hyperparameters);
            if let Some(features) = RegressionFeatures::new(pivots, z, noise, &self.hyperparameters) {
                return Ok(groups.iter().map(|group| less(group, &|g| features.mean_weights(&features.process.influence(g)))).collect());
            }
        }
        let mut wanted: Vec<usize> = groups.concat();
        wanted.sort_unstable();
        wanted.dedup();
        let inverse = factor(z, relative_noise, &self.hyperparameters)?.inverse_rows(&wanted);
        let row = |g: usize| &inverse[wanted.partition_point(|&w| w < g) * z.rows()..][..z.rows()];
        let of_row = |g: usize| MeanWeights::new(row(g), z, &self.order, &self.hyperparameters);
        Ok(groups.iter().map(|group| less(group, &of_row)).collect())
    }

    /// Residuals of a group of targets at one z without all of it: P_GG⁻¹ α_G, where P_GG⁻¹ = diag(N_g) + c and, by any one of them,
    /// 1/c + Σ_g 1/N_g = V_g / (N_g (V_g - N_g)) with its leave-one-out variance V_g = 1/P_gg.
    fn residuals_without(&self, relative_noise: &[f64], group: &[usize]) -> Vec<f64> {
        if let [i] = group {
            return vec![self.residuals[*i]];
        }
        let noise: Vec<f64> = group.iter().map(|&g| self.noise_variance(relative_noise[g])).collect();
        let precision: f64 = noise.iter().map(|n| 1.0 / n).sum();
        let alpha: Vec<f64> = group.iter().map(|&g| self.residuals[g] / self.variances[g]).collect();
        let unknown = (self.variances[group[0]] - noise[0]).max(LEAST_UNKNOWN * noise[0]);
        let without = self.variances[group[0]] / (noise[0] * unknown) - precision;
        let common = if without > 0.0 { alpha.iter().sum::<f64>() / without } else { 0.0 };
        alpha.iter().zip(&noise).map(|(a, n)| n * a + common).collect()
    }
}
