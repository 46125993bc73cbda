//! What the kernel means likelihood offers to posterior and samples.

use super::{KernelMeansLikelihood, PriorEmbedding};
use crate::checks::{self, Check};
use crate::kernel::Kernel;
use crate::linalg::vector::dot;
use crate::mixture::signed::{Part, SignedMixture};
use crate::mixture::weighted::WeightedDraws;
use crate::model::Surrogate;
use crate::{Error, Points, Prior};

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
