//! A mixture of axis-aligned Gaussians: several modes, closed forms kept.

use super::latent::{GaussianComponent, ln_mixture};
use super::standardise::Standardise;
use crate::Error;

/// Σ_k weight_k N(θ | mean_k, diag std_k²).
#[derive(Debug, Clone, PartialEq)]
pub struct GaussianMixture {
    pub(super) names: Vec<String>,
    pub(super) components: Vec<GaussianComponent>,
    pub(super) standardise: Standardise,
}

impl GaussianMixture {
    /// From components in θ units; weights are normalised to sum to one.
    pub(super) fn new(names: Vec<String>, mut components: Vec<GaussianComponent>) -> Result<Self, Error> {
        if components.is_empty() {
            return Err(Error::Empty { what: "the list of mixture components".into(), advice: "give at least one".into() });
        }
        for (k, component) in components.iter().enumerate() {
            require_valid(k, component, names.len())?;
        }
        let total: f64 = components.iter().map(|component| component.weight).sum();
        Error::require_positive("the sum of the mixture weights", total)?;
        // Weights that already sum to one are kept to the last bit, so that a saved prior loads as itself.
        if (total - 1.0).abs() > 1e-12 {
            components.iter_mut().for_each(|component| component.weight /= total);
        }
        let standardise = overall(&components, names.len());
        Ok(Self { names, components, standardise })
    }

    /// The components in θ units.
    pub fn components(&self) -> &[GaussianComponent] {
        &self.components
    }

    /// The components in z units.
    pub(super) fn latent_components(&self) -> Vec<GaussianComponent> {
        let scaled = |component: &GaussianComponent| GaussianComponent {
            weight: component.weight,
            mean: self.standardise.to_latent(&component.mean),
            std: component.std.iter().zip(&self.standardise.std).map(|(std, overall)| std / overall).collect(),
        };
        self.components.iter().map(scaled).collect()
    }

    pub(super) fn ln_density(&self, theta: &[f64]) -> f64 {
        ln_mixture(&self.components, theta)
    }
}

/// Mean and standard deviation of the mixture in each dimension: var = Σ w_k (std_k² + (mean_k − mean)²).
fn overall(components: &[GaussianComponent], dimension: usize) -> Standardise {
    let mean_of = |d: usize| components.iter().map(|c| c.weight * c.mean[d]).sum::<f64>();
    let mean: Vec<f64> = (0..dimension).map(mean_of).collect();
    let variance_of = |d: usize| components.iter().map(|c| c.weight * (c.std[d].powi(2) + (c.mean[d] - mean[d]).powi(2))).sum::<f64>();
    let std = (0..dimension).map(|d| variance_of(d).sqrt()).collect();
    Standardise { mean, std }
}

/// An error naming what is wrong with component k.
fn require_valid(k: usize, component: &GaussianComponent, dimension: usize) -> Result<(), Error> {
    Error::require_positive(&format!("weight of mixture component {k}"), component.weight)?;
    for (what, values) in [("mean", &component.mean), ("std", &component.std)] {
        if values.len() != dimension {
            return Err(Error::Shape {
                left: format!("the {what} of mixture component {k}"),
                left_rows: values.len(),
                left_columns: 1,
                right: "the list of names".into(),
                right_rows: dimension,
                right_columns: 1,
                advice: "every component needs one value for each parameter".into(),
            });
        }
    }
    for d in 0..dimension {
        Error::require_finite(&format!("mean {d} of mixture component {k}"), component.mean[d])?;
        Error::require_positive(&format!("std {d} of mixture component {k}"), component.std[d])?;
    }
    Ok(())
}
