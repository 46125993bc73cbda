//! A fixed set of weighted points for integrals over the prior that follow the posterior: half spread over the prior,
//! half where the simulations near the observation lie. Where simulations were not drawn from the prior they stand for it themselves.

use crate::Points;
use crate::linalg::products::combine_rows;
use crate::prior::LatentPrior;
use crate::random::{Purpose, stream};

/// Points z_q and weights w_q with Σ_q w_q f(z_q) ≈ ∫ f(z) p(z) dz.
#[derive(Debug, Clone)]
pub struct PriorPoints {
    /// The points.
    pub z: Points,
    /// Their weights.
    pub weights: Vec<f64>,
    /// Whether integrals with closed forms are sums over the points all the same.
    only_points: bool,
}

impl PriorPoints {
    /// `count` points for a prior and a region given by its mean and standard deviation in z coordinates.
    /// On the line they are evenly spaced in probability; elsewhere they are random with this seed.
    pub fn new(latent: &LatentPrior, mean: &[f64], std: &[f64], count: usize, seed: u64) -> Self {
        let LatentPrior::Gaussians(_) = latent else {
            let z = latent.draws(count, seed, Purpose::Integration);
            let share = 1.0 / z.rows() as f64;
            return Self { weights: vec![share; z.rows()], z, only_points: false };
        };
        const WIDER: f64 = 1.5;
        let normals = |i: usize| -> Vec<f64> {
            if mean.len() == 1 {
                let p = (i / 2) as f64 + 0.5;
                return vec![crate::special::normal::quantile_of(p / count.div_ceil(2) as f64)];
            }
            let mut rng = stream(seed, Purpose::Integration, i as u64);
            (0..mean.len()).map(|_| crate::random::standard_normal(&mut rng)).collect()
        };
        let single = latent.is_standard_normal();
        let point = |i: usize| -> Vec<f64> {
            if i % 2 == 1 {
                normals(i).iter().enumerate().map(|(d, u)| mean[d] + WIDER * std[d] * u).collect()
            } else if single {
                normals(i)
            } else {
                latent.draw_with(&mut stream(seed, Purpose::Integration, i as u64))
            }
        };
        let rows: Vec<Vec<f64>> = (0..count).map(point).collect();
        let z = Points::from_rows(&rows).expect("all points have the dimension of the prior");
        let local = |z: &[f64]| -> f64 {
            (0..z.len()).map(|d| crate::special::normal::ln_density((z[d] - mean[d]) / (WIDER * std[d])) - (WIDER * std[d]).ln()).sum()
        };
        let weigh = |z: &[f64]| {
            let ratio = (local(z) - latent.ln_density(z).unwrap_or(f64::NEG_INFINITY)).exp();
            2.0 / (1.0 + ratio) / count as f64
        };
        let weights = z.iter().map(weigh).collect();
        Self { z, weights, only_points: false }
    }

    /// Up to `count` of the simulated z, evenly spread over their order: they stand for the distribution simulations were drawn from.
    pub fn of_simulations(z: &Points, count: usize) -> Self {
        let (m, count) = (z.rows(), count.min(z.rows()));
        let some: Vec<usize> = (0..count).map(|k| k * m / count).collect();
        Self { z: z.select(&some), weights: vec![1.0 / count as f64; count], only_points: true }
    }

    /// w of q(x) = Σ_j w_j κ_j: the closed form, or Σ_q w_q G_q where only the points count, G a row of m values per point.
    pub fn marginal_weights(&self, at_points: &[f64], closed_form: &[f64]) -> Vec<f64> {
        if self.only_points { combine_rows(&self.weights, at_points, self.weights.len()) } else { closed_form.to_vec() }
    }
}
