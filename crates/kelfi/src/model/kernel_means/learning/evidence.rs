//! ln q(y), the marginal kernel means likelihood (MKML), and its gradient in log-hyperparameters.

use crate::linalg::vector::dot;
use crate::model::{KernelMeansLikelihood, Surrogate};
use crate::{Error, Prior};

/// The gradient of ln q(y).
#[derive(Debug, Clone, PartialEq)]
pub struct EvidenceGradient {
    /// ∂/∂ ln ε_i, one per statistic.
    pub log_epsilon: Vec<f64>,
    /// ∂/∂ ln β_d, one per parameter.
    pub log_length_scale: Vec<f64>,
    /// ∂/∂ ln λ.
    pub log_regularization: f64,
}

/// The gradient of ln q(y) in the prior's own hyperparameters, in z coordinates (units of the prior's standard deviation).
#[derive(Debug, Clone, PartialEq)]
pub struct PriorGradient {
    /// ∂/∂ mean_d, per prior standard deviation.
    pub mean: Vec<f64>,
    /// ∂/∂ ln std_d.
    pub log_std: Vec<f64>,
}

/// With v = A⁻¹κ, w = A⁻¹μ:
/// ∂/∂ ln ε_i = (1/q) Σ_j w_j κ_j ((y_i-x_ji)²/ε_i² - 1), ∂/∂ ln β_d = (1/q) [vᵀμ'_d - vᵀL'_d w], ∂/∂ ln λ = -(mλ/q) vᵀw.
/// Costs O(m²D) on top of the factorisation.
pub fn gradient(model: &KernelMeansLikelihood) -> Result<EvidenceGradient, Error> {
    model.require_evidence()?;
    let operator = model.operator();
    let q = model.relative_evidence();
    let (v, w) = (model.relative_weights(), operator.marginal_weights());
    let epsilon = model.hyperparameters().epsilon;
    let log_epsilon = model.discrepancies().kappa_slopes(&epsilon, model.ln_scale(), w).into_iter().map(|slope| slope / q).collect();
    let gram_slopes = operator.gram_slopes(v, w);
    let mean_slope = |d: usize| dot(v, &operator.embedding().mean_slopes(operator.kernel(), operator.z(), d));
    let log_length_scale = gram_slopes.iter().enumerate().map(|(d, gram)| (mean_slope(d) - gram) / q).collect();
    Ok(EvidenceGradient { log_epsilon, log_length_scale, log_regularization: -operator.ridge() * dot(v, w) / q })
}

/// The gradient in the mean and standard deviation of a prior with a single Gaussian in z coordinates.
pub fn prior_gradient(model: &KernelMeansLikelihood) -> Result<PriorGradient, Error> {
    model.require_evidence()?;
    let unavailable = || Error::Unavailable {
        what: "the gradient in the prior's hyperparameters".into(),
        reason: "it exists only for normal priors with a Gaussian kernel".into(),
    };
    if !is_normal(model.prior()) {
        return Err(unavailable());
    }
    let operator = model.operator();
    let (q, v) = (model.relative_evidence(), model.relative_weights());
    let mut result = PriorGradient { mean: vec![], log_std: vec![] };
    for d in 0..model.prior().dimension() {
        let (mean, ln_std) = operator.embedding().prior_slopes(operator.kernel(), operator.z(), d).ok_or_else(unavailable)?;
        result.mean.push(dot(v, &mean) / q);
        result.log_std.push(dot(v, &ln_std) / q);
    }
    Ok(result)
}

/// Whether every parameter has a normal prior of its own.
fn is_normal(prior: &Prior) -> bool {
    match prior {
        Prior::Independent(independent) => independent.marginals().iter().all(|m| matches!(m, crate::prior::Marginal::Normal { .. })),
        _ => false,
    }
}
