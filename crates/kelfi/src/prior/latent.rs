//! The prior as seen from z coordinates: a mixture of axis-aligned Gaussians, or draws.

use super::uniform::{index, pick, standard_normal};
use crate::Points;
use crate::random::{Purpose, stream};
use crate::special::normal;
use serde::{Deserialize, Serialize};

/// The prior in z coordinates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum LatentPrior {
    /// Σ_k weight_k N(z | mean_k, diag std_k²): closed forms exist. Weights are positive and sum to one.
    /// A prior with a Gaussian transform is the single component N(0, I).
    Gaussians(Vec<GaussianComponent>),
    /// Equally weighted draws: sample forms.
    Draws(Points),
}

/// One axis-aligned Gaussian of a mixture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GaussianComponent {
    /// Its share of the prior.
    pub weight: f64,
    /// Mean in each dimension.
    pub mean: Vec<f64>,
    /// Standard deviation in each dimension.
    pub std: Vec<f64>,
}

impl GaussianComponent {
    /// ln N(z | mean, diag std²), without the weight.
    pub fn ln_density(&self, z: &[f64]) -> f64 {
        let of_coordinate = |d: usize| normal::ln_density((z[d] - self.mean[d]) / self.std[d]) - self.std[d].ln();
        (0..self.mean.len()).map(of_coordinate).sum()
    }

    /// A draw from this component.
    fn draw_with(&self, rng: &mut dyn rand::Rng) -> Vec<f64> {
        self.mean.iter().zip(&self.std).map(|(mean, std)| mean + std * standard_normal(rng)).collect()
    }
}

impl LatentPrior {
    /// Whether it is N(0, I).
    pub fn is_standard_normal(&self) -> bool {
        *self == Self::standard_normal(self.dimension())
    }

    /// N(0, I) in `dimension` coordinates.
    pub fn standard_normal(dimension: usize) -> Self {
        Self::Gaussians(vec![GaussianComponent { weight: 1.0, mean: vec![0.0; dimension], std: vec![1.0; dimension] }])
    }

    /// Number of coordinates.
    pub fn dimension(&self) -> usize {
        match self {
            Self::Gaussians(components) => components.first().map_or(0, |component| component.mean.len()),
            Self::Draws(points) => points.columns(),
        }
    }

    /// ln p(z); `None` for draws, which have no density.
    pub fn ln_density(&self, z: &[f64]) -> Option<f64> {
        match self {
            Self::Gaussians(components) => Some(ln_mixture(components, z)),
            Self::Draws(_) => None,
        }
    }

    /// The gradient of ln p(z): each component's, in proportion to its share of the density; `None` for draws.
    pub fn ln_gradient(&self, z: &[f64]) -> Option<Vec<f64>> {
        let Self::Gaussians(components) = self else { return None };
        let whole = ln_mixture(components, z);
        let mut gradient = vec![0.0; z.len()];
        for component in components {
            let share = (component.weight.ln() + component.ln_density(z) - whole).exp();
            for (d, g) in gradient.iter_mut().enumerate() {
                *g -= share * (z[d] - component.mean[d]) / component.std[d].powi(2);
            }
        }
        Some(gradient)
    }

    /// One draw of z.
    pub fn draw_with(&self, rng: &mut dyn rand::Rng) -> Vec<f64> {
        match self {
            Self::Gaussians(components) => components[pick(rng, components.iter().map(|component| component.weight))].draw_with(rng),
            Self::Draws(points) => points.row(index(rng, points.rows())).to_vec(),
        }
    }

    /// `count` draws; the one of index j depends on (seed, purpose, j) only.
    pub fn draws(&self, count: usize, seed: u64, purpose: Purpose) -> Points {
        let mut points = Points::zeros(count, self.dimension());
        for j in 0..count {
            points.row_mut(j).copy_from_slice(&self.draw_with(&mut stream(seed, purpose, j as u64)));
        }
        points
    }
}

/// ln Σ_k weight_k N(z | mean_k, diag std_k²), by the largest term.
pub(super) fn ln_mixture(components: &[GaussianComponent], z: &[f64]) -> f64 {
    let terms: Vec<f64> = components.iter().map(|component| component.weight.ln() + component.ln_density(z)).collect();
    let largest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return largest;
    }
    largest + terms.iter().map(|term| (term - largest).exp()).sum::<f64>().ln()
}
