//! The kernel means likelihood (KML) of the paper: q(y|θ) = Σ_j v_j ℓ(θ_j, θ), v = (L + mλI)⁻¹ κ_ε(y).

mod constants;
/// Mean embeddings of the prior and of the posterior: closed form or from draws.
pub mod embedding;
mod hyperparameters;
/// Choosing the hyperparameters.
pub mod learning;
mod leave_one_out;
mod leave_one_out_shares;
mod model;
/// The conditional embedding operator (L + mλI)⁻¹: factored once, used for everything.
pub mod operator;
mod predicted;
mod solver_report;
mod surrogate;

use constants::embedding::PRIOR_DRAWS;
pub use embedding::PriorEmbedding;
pub use hyperparameters::Hyperparameters;
pub use leave_one_out::LeaveOneOut;
pub(crate) use leave_one_out_shares::shares;
pub use model::KERNEL_MEANS;
pub use operator::Operator;
pub use solver_report::SolverReport;

use crate::linalg::vector::dot;
use crate::model::Surrogate;
use crate::question::Question;
use crate::simulations::Discrepancies;
use crate::simulations::discrepancies::Kappa;
use crate::simulations::{Observation, Recorded};
use crate::solver::Accuracy;
use crate::{Error, Points};
use learning::Learned;
use std::sync::Arc;

/// The kernel means likelihood at one observation.
#[derive(Debug, Clone)]
pub struct KernelMeansLikelihood {
    question: Question,
    operator: Arc<Operator>,
    discrepancies: Discrepancies,
    epsilon: Vec<f64>,
    kappa: Kappa,
    /// v.
    weights: Vec<f64>,
    /// The weights of the same function on the operator's support.
    on_support: Vec<f64>,
    relative_evidence: f64,
    /// How the hyperparameters were chosen, where they were learned.
    learned: Option<Arc<Learned>>,
}

impl KernelMeansLikelihood {
    /// Builds the model at fixed hyperparameters.
    pub fn new(question: &Question, hyperparameters: &Hyperparameters) -> Result<Self, Error> {
        let Question { prior, recorded, observation } = question;
        let z = prior.to_latent_points(recorded.theta())?;
        let kernel = hyperparameters.kernel(prior.dimension())?;
        let embedding = PriorEmbedding::new(&prior.latent(), kernel.family(), PRIOR_DRAWS, 0)?;
        let Hyperparameters { regularization, solver, .. } = *hyperparameters;
        let operator = Operator::with_solver(z, kernel, regularization, embedding, solver, Accuracy::ANSWER)?;
        let discrepancies = recorded.discrepancies(observation)?;
        Self::from_parts(question.clone(), Arc::new(operator), discrepancies, &hyperparameters.epsilon)
    }

    /// The model on an operator that is already factored. Costs O(m²).
    pub fn from_parts(question: Question, operator: Arc<Operator>, discrepancies: Discrepancies, epsilon: &[f64]) -> Result<Self, Error> {
        let epsilon = discrepancies.tolerances(epsilon)?;
        if discrepancies.simulations() != operator.len() {
            return Err(Error::Shape {
                left: "theta".into(),
                left_rows: operator.len(),
                left_columns: operator.kernel().dimension(),
                right: "the outputs".into(),
                right_rows: discrepancies.simulations(),
                right_columns: discrepancies.components(),
                advice: "every parameter vector needs its output".into(),
            });
        }
        let kappa = discrepancies.kappa(&epsilon);
        let weights = operator.solver().solve(&kappa.relative);
        // vᵀμ rather than κᵀw: the same number, but then the weights v_j μ_j / q(y) of the posterior sum to one by
        // construction, however badly conditioned A is.
        let relative_evidence = dot(&weights, operator.prior_means());
        if let Some(j) = weights.iter().position(|v| !v.is_finite()) {
            let value = operator.solver().pivot(j);
            return Err(Error::NotPositiveDefinite { pivot: j, order: operator.len(), value, regularization: operator.regularization() });
        }
        let on_support = operator.on_support(weights.clone());
        Ok(Self { question, operator, discrepancies, epsilon, kappa, weights, on_support, relative_evidence, learned: None })
    }

    /// The same simulations and factorisation at another observation.
    pub fn condition(&self, observation: &Observation) -> Result<Self, Error> {
        let discrepancies = self.recorded().discrepancies(observation)?;
        Self::from_parts(self.question.at(observation), self.operator.clone(), discrepancies, &self.epsilon)
    }

    /// The same simulations, observation and factorisation with other tolerances.
    pub fn with_epsilon(&self, epsilon: &[f64]) -> Result<Self, Error> {
        Self::from_parts(self.question.clone(), self.operator.clone(), self.discrepancies.clone(), epsilon)
    }

    /// The hyperparameters in use, with one value per statistic and parameter.
    pub fn hyperparameters(&self) -> Hyperparameters {
        Hyperparameters {
            epsilon: self.epsilon.clone(),
            length_scale: self.operator.kernel().length_scales().to_vec(),
            regularization: self.operator.regularization(),
            family: self.operator.kernel().family(),
            solver: self.operator.choice(),
        }
    }

    /// The same with the record of its learning.
    pub(crate) fn with_record(self, learned: Learned) -> Self {
        Self { learned: Some(Arc::new(learned)), ..self }
    }

    /// How the hyperparameters were chosen, where they were learned.
    pub fn learned(&self) -> Option<&Learned> {
        self.learned.as_deref()
    }

    /// The factored operator.
    pub fn operator(&self) -> &Arc<Operator> {
        &self.operator
    }

    /// What was simulated.
    pub fn recorded(&self) -> &Recorded {
        &self.question.recorded
    }

    /// Squared differences to the observation.
    pub fn discrepancies(&self) -> &Discrepancies {
        &self.discrepancies
    }

    /// κ_j relative to exp(ln_scale).
    pub fn relative_kappa(&self) -> &[f64] {
        &self.kappa.relative
    }

    /// (Σκ)²/Σκ²: how many simulations carry the answer.
    pub fn effective_kappa(&self) -> f64 {
        let (sum, squares) = self.kappa.relative.iter().fold((0.0, 0.0), |(s, q), k| (s + k, q + k * k));
        sum * sum / squares
    }

    /// v relative to exp(ln_scale).
    pub fn relative_weights(&self) -> &[f64] {
        &self.weights
    }

    /// v = (L + mλI)⁻¹ κ.
    pub fn weights(&self) -> Vec<f64> {
        self.weights.iter().map(|&v| times_exp(v, self.kappa.ln_scale)).collect()
    }

    /// q(y|θ) at each θ (paper eq. 3.2). May be negative.
    pub fn value(&self, theta: &Points) -> Result<Vec<f64>, Error> {
        let z = self.question.prior.to_latent_points(theta)?;
        Ok(self.relative_values(&z).into_iter().map(|q| times_exp(q, self.kappa.ln_scale)).collect())
    }

    /// Standard deviation of q(y|θ) as the prediction of a Gaussian process with this kernel and ridge,
    /// its amplitude κᵀA⁻¹κ/m estimated from the same data. Costs O(m²) per query.
    pub fn uncertainty(&self, theta: &Points) -> Result<Vec<f64>, Error> {
        let z = self.question.prior.to_latent_points(theta)?;
        let amplitude = (dot(&self.kappa.relative, &self.weights) / self.operator.len() as f64).max(0.0).sqrt();
        let scaled = |variance: f64| times_exp(amplitude * variance.sqrt(), self.kappa.ln_scale);
        Ok(self.operator.unit_variances(&z).into_iter().map(scaled).collect())
    }

    /// q(y) = vᵀμ = κᵀ A⁻¹ μ, the marginal kernel means likelihood (paper eq. 3.3). May be negative.
    pub fn marginal_likelihood(&self) -> f64 {
        times_exp(self.relative_evidence, self.kappa.ln_scale)
    }

    /// ln q(y), or why there is none.
    pub fn log_marginal_likelihood(&self) -> Result<f64, Error> {
        self.require_evidence()?;
        Ok(self.relative_evidence.ln() + self.kappa.ln_scale)
    }

    /// q(y) / exp(ln_scale); may be zero or negative.
    pub fn relative_evidence(&self) -> f64 {
        self.relative_evidence
    }

    /// The gradient of the relative value in z.
    pub fn relative_gradient(&self, z: &[f64]) -> Vec<f64> {
        self.operator.gradient(&self.on_support, z)
    }

    /// ∫ q(y|z) p(z) dz of the function on the support: q(y), but for what a low-rank solver misses of μ.
    fn mass_on_support(&self) -> f64 {
        if self.operator.is_exact() {
            return self.relative_evidence;
        }
        dot(&self.on_support, &self.operator.embedding().means(self.operator.kernel(), self.operator.support()))
    }

    /// An error when q(y) is not positive.
    pub fn require_evidence(&self) -> Result<(), Error> {
        if self.relative_evidence > 0.0 && self.relative_evidence.is_finite() {
            return Ok(());
        }
        Err(Error::EvidenceNotPositive { value: self.relative_evidence, simulations: self.operator.len() })
    }
}

/// value · exp(ln_scale) without 0 · ∞; saturates at the largest finite number.
pub(crate) fn times_exp(value: f64, ln_scale: f64) -> f64 {
    if value == 0.0 {
        return 0.0;
    }
    let product = value * ln_scale.exp();
    if product.is_finite() && product != 0.0 {
        return product;
    }
    value.signum() * (value.abs().ln() + ln_scale).exp().min(f64::MAX)
}
