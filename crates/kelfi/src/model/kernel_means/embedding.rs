//! μ(z) = ∫ ℓ(z, u) p(u) du and h(z, z*) = ∫ ℓ(z, u) ℓ'(u, z*) p(u) du: closed form for Gaussians, or means over draws.

use crate::kernel::{Family, Kernel};
use crate::prior::{GaussianComponent, LatentPrior};
use crate::{Error, Points};

/// How integrals over the prior are done.
#[derive(Debug, Clone, PartialEq)]
pub enum PriorEmbedding {
    /// Gaussian kernel and Gaussian (mixture) prior: exact.
    ClosedForm(Vec<GaussianComponent>),
    /// Any kernel, any prior: means over T draws.
    Draws(Points),
}

impl PriorEmbedding {
    /// The closed form where there is one; otherwise `draws` draws of the prior (or all it has).
    pub fn new(latent: &LatentPrior, family: Family, draws: usize, seed: u64) -> Result<Self, Error> {
        match latent {
            LatentPrior::Gaussians(components) if family.has_closed_form() => Ok(Self::ClosedForm(components.clone())),
            LatentPrior::Draws(points) => Ok(Self::Draws(points.clone())),
            LatentPrior::Gaussians(_) => {
                if draws == 0 {
                    return Err(Error::invalid("number of prior draws", 0.0, "this kernel needs at least one draw of the prior"));
                }
                Ok(Self::Draws(latent.draws(draws, seed, crate::random::Purpose::Integration)))
            }
        }
    }

    /// μ(z_j) for every point (paper eq. 3.4): Π_d β_d/ν_d · exp(-½ (z_d-μ_d)²/ν_d²), ν² = β² + σ², summed over components.
    /// In (0, 1]. Costs O(mD) per component, or O(mTD).
    pub fn means(&self, kernel: &Kernel, z: &Points) -> Vec<f64> {
        match self {
            Self::ClosedForm(components) => z.iter().map(|z| components.iter().map(|c| component_mean(c, kernel, z)).sum()).collect(),
            Self::Draws(draws) => kernel.means(&kernel.scale(draws), z),
        }
    }

    /// ∂μ(z_j)/∂ ln β_d for every point: μ [σ²/ν² + β²(z-μ)²/ν⁴] in closed form.
    pub fn mean_slopes(&self, kernel: &Kernel, z: &Points, d: usize) -> Vec<f64> {
        match self {
            Self::ClosedForm(components) => {
                let slope = |c: &GaussianComponent, z: &[f64]| {
                    let (b2, s2) = (kernel.length_scales()[d].powi(2), c.std[d].powi(2));
                    let n2 = b2 + s2;
                    times(component_mean(c, kernel, z), s2 / n2 + b2 * ((z[d] - c.mean[d]) / n2).powi(2))
                };
                z.iter().map(|z| components.iter().map(|c| slope(c, z)).sum()).collect()
            }
            Self::Draws(draws) => {
                let scaled = kernel.scale(draws);
                let mut row = vec![0.0; draws.rows()];
                let mut slope = |z: &[f64]| {
                    let query = kernel.scale_query(z);
                    kernel.slope_row(&scaled, &query, &mut row);
                    crate::linalg::vector::weighted_squares(&row, scaled.column(d), query[d]) / draws.rows() as f64
                };
                z.iter().map(&mut slope).collect()
            }
        }
    }

    /// ∂μ(z_j)/∂(mean, ln std) of dimension `d` of the first component; `None` for draws.
    pub fn prior_slopes(&self, kernel: &Kernel, z: &Points, d: usize) -> Option<(Vec<f64>, Vec<f64>)> {
        let Self::ClosedForm(components) = self else { return None };
        let c = components.first()?;
        let s2 = c.std[d].powi(2);
        let n2 = kernel.length_scales()[d].powi(2) + s2;
        let mean = z.iter().map(|z| times(component_mean(c, kernel, z), (z[d] - c.mean[d]) / n2)).collect();
        let ln_std = z.iter().map(|z| times(component_mean(c, kernel, z), s2 * (((z[d] - c.mean[d]) / n2).powi(2) - 1.0 / n2))).collect();
        Some((mean, ln_std))
    }

    /// Σ_j v_j h(z_j, z*_r) for every query, where ℓ' = `query_kernel` may have other length scales (paper eq. 3.8).
    ///
    /// Per dimension h = s/σ · exp(-½ s² [(z-z*)²/(β²β'²) + (z-μ)²/(β²σ²) + (z*-μ)²/(β'²σ²)]), s⁻² = β⁻² + β'⁻² + σ⁻²:
    /// the paper's form regrouped into differences, which do not cancel. It is again a Gaussian kernel between z and z*.
    pub fn product_sums(&self, kernel: &Kernel, query_kernel: &Kernel, z: &Points, v: &[f64], queries: &Points) -> Vec<f64> {
        match self {
            Self::Draws(draws) => {
                let at_draws = kernel.sums(&kernel.scale(z), v, draws);
                let share: Vec<f64> = at_draws.iter().map(|value| value / draws.rows() as f64).collect();
                query_kernel.sums(&query_kernel.scale(draws), &share, queries)
            }
            Self::ClosedForm(components) => {
                let mut total = vec![0.0; queries.rows()];
                for component in components {
                    let terms = component_product_sums(component, kernel, query_kernel, z, v, queries);
                    total.iter_mut().zip(terms).for_each(|(total, term)| *total += term);
                }
                total
            }
        }
    }
}

/// mean · factor, where a mean that has vanished wins over a square that overflows.
fn times(mean: f64, factor: f64) -> f64 {
    if mean == 0.0 { 0.0 } else { mean * factor }
}

/// weight · Π_d β_d/ν_d · exp(-½ (z_d-μ_d)²/ν_d²).
fn component_mean(c: &GaussianComponent, kernel: &Kernel, z: &[f64]) -> f64 {
    let mut factor = c.weight;
    let mut exponent = 0.0;
    for (d, &beta) in kernel.length_scales().iter().enumerate() {
        let nu = beta.hypot(c.std[d]);
        factor *= beta / nu;
        exponent -= 0.5 * ((z[d] - c.mean[d]) / nu).powi(2);
    }
    factor * exponent.exp()
}

fn component_product_sums(
    c: &GaussianComponent,
    kernel: &Kernel,
    query_kernel: &Kernel,
    z: &Points,
    v: &[f64],
    queries: &Points,
) -> Vec<f64> {
    let (b, q) = (kernel.length_scales(), query_kernel.length_scales());
    let s: Vec<f64> = (0..b.len()).map(|d| (b[d].powi(-2) + q[d].powi(-2) + c.std[d].powi(-2)).sqrt().recip()).collect();
    let tail = |z: &[f64], scale: &[f64]| {
        let exponent: f64 = (0..s.len()).map(|d| (s[d] * (z[d] - c.mean[d]) / (scale[d] * c.std[d])).powi(2)).sum();
        (-0.5 * exponent).exp()
    };
    let factor: f64 = c.weight * (0..s.len()).map(|d| s[d] / c.std[d]).product::<f64>();
    let weights: Vec<f64> = z.iter().zip(v).map(|(z, v)| v * factor * tail(z, b)).collect();
    let scales = (0..s.len()).map(|d| b[d] / s[d] * q[d]).collect();
    let between = Kernel::gaussian(scales).expect("ratios of positive length scales are positive");
    let sums = between.sums(&between.scale(z), &weights, queries);
    sums.into_iter().zip(queries.iter()).map(|(sum, query)| sum * tail(query, q)).collect()
}
