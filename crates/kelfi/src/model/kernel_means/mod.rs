//! The kernel means likelihood (KML) of the paper: q(y|θ) = Σ_j v_j ℓ(θ_j, θ), v = (L + mλI)⁻¹ κ_ε(y).

mod constants;
/// Mean embeddings of the prior and of the posterior: closed form or from draws.
pub mod embedding;
/// Choosing the hyperparameters.
pub mod learning;
mod leave_one_out_shares;
mod model;
/// The conditional embedding operator (L + mλI)⁻¹: factored once, used for everything.
pub mod operator;
mod predicted;

use constants::embedding::PRIOR_DRAWS;
pub use embedding::PriorEmbedding;
pub(crate) use leave_one_out_shares::shares;
pub use model::KERNEL_MEANS;
pub use operator::Operator;

use crate::checks::{self, Check};
use crate::kernel::{Family, Kernel};
use crate::linalg::vector::dot;
use crate::mixture::signed::{Part, SignedMixture};
use crate::mixture::weighted::WeightedDraws;
use crate::model::Surrogate;
use crate::question::Question;
use crate::simulations::Discrepancies;
use crate::simulations::discrepancies::Kappa;
use crate::simulations::{Observation, Recorded};
use crate::solver::{Accuracy, SolverChoice};
use crate::{Error, Points, Prior};
use learning::Learned;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What the paper calls (ε, β, λ), and the kernel's shape.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hyperparameters {
    /// Tolerances in the units of the statistics: one for all, or one each.
    pub epsilon: Vec<f64>,
    /// Length scales in prior standard deviations: one for all, or one per parameter.
    pub length_scale: Vec<f64>,
    /// λ; the ridge is mλ.
    pub regularization: f64,
    /// Shape of the kernel on parameters.
    #[serde(default)]
    pub family: Family,
    /// How L + mλI is solved.
    #[serde(default, skip_serializing_if = "SolverChoice::is_auto")]
    pub solver: SolverChoice,
}

impl Hyperparameters {
    /// One tolerance, one length scale, Gaussian kernel.
    pub fn isotropic(epsilon: f64, length_scale: f64, regularization: f64) -> Self {
        Self {
            epsilon: vec![epsilon],
            length_scale: vec![length_scale],
            regularization,
            family: Family::Gaussian,
            solver: SolverChoice::Auto,
        }
    }

    /// The kernel on `dimension` parameters.
    pub fn kernel(&self, dimension: usize) -> Result<Kernel, Error> {
        let scales = if self.length_scale.len() == 1 { vec![self.length_scale[0]; dimension] } else { self.length_scale.clone() };
        Kernel::new(self.family, scales)
    }
}

/// Rows of A⁻¹ held at the same time.
const ROWS_AT_ONCE: usize = 256;

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

/// What a low-rank solver reached.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SolverReport {
    /// Simulated parameters that stand for all.
    pub rank: usize,
    /// Trace of what is missed of L, as a share of the ridge mλ.
    pub error: f64,
    /// ln q(y) is not further than this from the exact solver's; `None` where q(y) ≤ 0.
    pub evidence_error: Option<f64>,
}

impl std::fmt::Display for SolverReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "low rank, {} simulations stand for all; what they miss is {:.0e} of the ridge", self.rank, self.error)?;
        self.evidence_error.map_or(Ok(()), |error| write!(f, ", ln q(y) is within {error:.0e} of the exact solver's"))
    }
}

/// Likelihood and marginal likelihood of each successful simulation as observation, under the model without it.
#[derive(Debug, Clone, PartialEq)]
pub struct LeaveOneOut {
    /// Which simulations: the successful ones.
    pub indices: Vec<usize>,
    /// q₋ᵢ(x_i | θ_i).
    pub likelihood: Vec<f64>,
    /// q₋ᵢ(x_i).
    pub marginal_likelihood: Vec<f64>,
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

    /// Rank and error of a low-rank solver, and how far ln q(y) may be off for it.
    pub fn solver_report(&self) -> Option<SolverReport> {
        let approximation = self.operator.solver().approximation()?;
        let missed = self.operator.solver().missed(&self.weights, self.operator.marginal_weights());
        let evidence_error = (self.relative_evidence > 0.0).then(|| missed / self.relative_evidence);
        Some(SolverReport { rank: approximation.rank, error: approximation.error, evidence_error })
    }

    /// An error when q(y) is not positive.
    pub fn require_evidence(&self) -> Result<(), Error> {
        if self.relative_evidence > 0.0 && self.relative_evidence.is_finite() {
            return Ok(());
        }
        Err(Error::EvidenceNotPositive { value: self.relative_evidence, simulations: self.operator.len() })
    }

    /// Each successful simulation as the observation of a model without it, the ridge mλ kept:
    /// with P = A⁻¹ and a_ij = -P_ij/P_ii, q₋ᵢ(x_i|θ_i) = Σ_{j≠i} a_ij K_ij and q₋ᵢ(x_i) = Σ_{j≠i} (w_j + w_i a_ij) K_ij.
    /// Costs O(m³).
    pub fn leave_one_out(&self) -> Result<LeaveOneOut, Error> {
        let m = self.operator.len();
        let observed: Vec<(usize, Observation)> = (0..m).filter_map(|i| Some((i, self.recorded().as_observation(i)?))).collect();
        let indices: Vec<usize> = observed.iter().map(|(i, _)| *i).collect();
        let w = self.operator.marginal_weights();
        let inverse_rows = |some: &[usize]| self.operator.solver().inverse_rows(some);
        let inverse = indices.chunks(ROWS_AT_ONCE).flat_map(|some| inverse_rows(some).chunks(m).map(<[f64]>::to_vec).collect::<Vec<_>>());
        let mut result = LeaveOneOut { indices: indices.clone(), likelihood: vec![], marginal_likelihood: vec![] };
        for ((i, x), p) in observed.iter().zip(inverse) {
            let kappa = self.recorded().discrepancies(x)?.kappa(&self.epsilon);
            let (mut likelihood, mut marginal) = (0.0, 0.0);
            for j in (0..m).filter(|j| j != i) {
                let a = -p[j] / p[*i];
                likelihood += a * kappa.relative[j];
                marginal += (w[j] + w[*i] * a) * kappa.relative[j];
            }
            result.likelihood.push(times_exp(likelihood, kappa.ln_scale));
            result.marginal_likelihood.push(times_exp(marginal, kappa.ln_scale));
        }
        Ok(result)
    }
}

impl Surrogate for KernelMeansLikelihood {
    fn prior(&self) -> &Prior {
        &self.question.prior
    }

    fn ln_scale(&self) -> f64 {
        self.kappa.ln_scale
    }

    fn relative_values(&self, z: &Points) -> Vec<f64> {
        self.operator.values(&self.on_support, z)
    }

    fn ln_gradient(&self, z: &[f64]) -> Vec<f64> {
        let q = Points::new(z.to_vec(), 1, z.len()).map_or(f64::NAN, |z| self.relative_values(&z)[0]);
        self.relative_gradient(z).into_iter().map(|g| g / q).collect()
    }

    fn relative_evidence(&self) -> Option<f64> {
        Some(self.relative_evidence)
    }

    /// The simulations by q at their own θ: Lv = κ - mλv, at no cost.
    fn promising(&self, count: usize) -> Points {
        let at_simulations: Vec<f64> = self.kappa.relative.iter().zip(&self.weights).map(|(k, v)| k - self.operator.ridge() * v).collect();
        let mut order: Vec<usize> = (0..at_simulations.len()).collect();
        order.sort_by(|&i, &j| at_simulations[j].total_cmp(&at_simulations[i]));
        order.truncate(count);
        self.operator.z().select(&order)
    }

    /// ω_j = v_j μ_j / q(y), S = 1/(1/β² + 1/σ²), c_j = S (z_j/β² + μ/σ²): for each Gaussian of the prior.
    fn signed_mixture(&self) -> Option<SignedMixture> {
        let PriorEmbedding::ClosedForm(components) = self.operator.embedding() else { return None };
        let beta = self.operator.kernel().length_scales();
        let support = self.operator.support();
        let total = self.mass_on_support();
        let part = |c: &crate::prior::GaussianComponent| {
            let precision = |d: usize| (beta[d].powi(-2), c.std[d].powi(-2));
            let variance: Vec<f64> = (0..beta.len()).map(|d| (precision(d).0 + precision(d).1).recip()).collect();
            let centre = |z: &[f64]| (0..z.len()).map(|d| variance[d] * (z[d] * precision(d).0 + c.mean[d] * precision(d).1)).collect();
            let means = PriorEmbedding::ClosedForm(vec![c.clone()]).means(self.operator.kernel(), support);
            Part {
                std: variance.iter().map(|v| v.sqrt()).collect(),
                centres: support.map_rows(beta.len(), centre),
                weights: self.on_support.iter().zip(means).map(|(v, mu)| v * mu / total).collect(),
            }
        };
        Some(SignedMixture::new(components.iter().map(part).collect()))
    }

    fn embedding(&self, kernel: Option<&Kernel>, queries: &Points) -> Option<Vec<f64>> {
        let kernel = kernel.unwrap_or(self.operator.kernel());
        if kernel.family() != self.operator.kernel().family() {
            return None;
        }
        let sums = self.operator.product_sums(kernel, &self.on_support, queries);
        Some(sums.into_iter().map(|sum| sum / self.relative_evidence).collect())
    }

    fn herding_kernel(&self) -> Kernel {
        self.operator.kernel().clone()
    }

    /// E[f(X)|y] = f̄ + (f - f̄)ᵀ A⁻¹ (1/q(y) Σ_j v_j h(z_j, z_·)), f̄ the mean of f: the ridge pulls towards the mean, not towards zero.
    /// Given draws: the mean of f̄ + Σ_j (A⁻¹ (f - f̄))_j ℓ(z_j, z) over them. Costs O(m²).
    fn predictive(&self, recorded: &[f64], draws: Option<&WeightedDraws>) -> Result<f64, Error> {
        let m = self.operator.len();
        if recorded.len() != m {
            return Err(Error::Shape {
                left: "the recorded output".into(),
                left_rows: recorded.len(),
                left_columns: 1,
                right: "the simulations".into(),
                right_rows: m,
                right_columns: 1,
                advice: "give one value per simulation".into(),
            });
        }
        Points::from_column(recorded.to_vec()).require_finite("the recorded output")?;
        self.require_evidence()?;
        let mean = recorded.iter().map(|f| f / m as f64).sum::<f64>();
        let centred: Vec<f64> = recorded.iter().map(|f| f - mean).collect();
        let coefficients = self.operator.solver().solve(&centred);
        let deviation = match draws {
            Some(draws) => dot(draws.weights(), &self.operator.values(&self.operator.on_support(coefficients), draws.z())),
            None => {
                let h = self.operator.product_sums(self.operator.kernel(), &self.on_support, self.operator.z());
                dot(&coefficients, &h) / self.relative_evidence
            }
        };
        Ok(mean + deviation)
    }

    fn simulated(&self) -> Option<Points> {
        Some(self.operator.z().clone())
    }

    /// q(y) = Σ_j w_j κ_j is a sum over simulations: its standard error is √(m/(m-1) Σ_j (w_j κ_j - q/m)²), and that of the logarithm 1/q times it.
    fn log_evidence_error(&self) -> Option<f64> {
        let (m, q) = (self.operator.len() as f64, self.relative_evidence);
        let away = |(w, k): (&f64, &f64)| (w * k - q / m).powi(2);
        let squares: f64 = self.operator.marginal_weights().iter().zip(&self.kappa.relative).map(away).sum();
        (q > 0.0 && m > 1.0).then(|| (m / (m - 1.0) * squares).sqrt() / q)
    }

    fn checks(&self, _draws: &Points) -> Vec<Check> {
        let failed = self.discrepancies.failed();
        vec![
            checks::support(&self.discrepancies.distances(&self.epsilon), self.discrepancies.components()),
            checks::conditioning(self.operator.solver().condition_estimate()),
            checks::failed_simulations(failed.iter().filter(|&&f| f).count(), failed.len()),
        ]
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
