//! A mixture of Gaussians with full covariances in z coordinates, as methods that fit one have it.

use crate::weights::{ln_sum_exp, pick};
use kelfi::linalg::Cholesky;
use kelfi::method::Density;
use kelfi::random::{Purpose, standard_normal, stream};
use kelfi::{Error, Points};

/// One Gaussian of a mixture.
#[derive(Debug, Clone)]
pub struct Gaussian {
    /// Its share.
    pub weight: f64,
    /// Its mean.
    pub mean: Vec<f64>,
    /// C of its covariance C Cᵀ.
    pub factor: Cholesky,
}

impl Gaussian {
    /// From mean and covariance, column after column.
    pub fn new(weight: f64, mean: Vec<f64>, covariance: Vec<f64>) -> Result<Self, Error> {
        let order = mean.len();
        let factor = Cholesky::new(covariance, order).map_err(|bad| bad.error(order, 0.0))?;
        Ok(Self { weight, mean, factor })
    }

    /// ln N(z).
    pub fn ln_density(&self, z: &[f64]) -> f64 {
        let mut step: Vec<f64> = z.iter().zip(&self.mean).map(|(z, mean)| z - mean).collect();
        self.factor.half_solve_in_place(&mut step);
        let squared: f64 = step.iter().map(|s| s * s).sum();
        -0.5 * (squared + self.factor.ln_determinant() + step.len() as f64 * std::f64::consts::TAU.ln())
    }

    /// mean + C noise.
    pub fn at(&self, noise: &[f64]) -> Vec<f64> {
        let moved = |d: usize| self.mean[d] + (0..=d).map(|e| self.factor.entry(d, e) * noise[e]).sum::<f64>();
        (0..self.mean.len()).map(moved).collect()
    }
}

/// Gaussians whose weights sum to 1.
#[derive(Debug, Clone)]
pub struct Gaussians(pub Vec<Gaussian>);

impl Density for Gaussians {
    fn ln_density(&self, z: &[f64]) -> f64 {
        ln_sum_exp(&self.0.iter().map(|g| g.weight.ln() + g.ln_density(z)).collect::<Vec<_>>())
    }

    fn samples(&self, count: usize, seed: u64) -> Points {
        let weights: Vec<f64> = self.0.iter().map(|g| g.weight).collect();
        let mut out = Points::zeros(count, self.0[0].mean.len());
        for s in 0..count {
            let mut rng = stream(seed, Purpose::Samples, s as u64);
            let chosen = &self.0[pick(&weights, &mut rng)];
            let noise: Vec<f64> = chosen.mean.iter().map(|_| standard_normal(&mut rng)).collect();
            out.row_mut(s).copy_from_slice(&chosen.at(&noise));
        }
        out
    }
}
