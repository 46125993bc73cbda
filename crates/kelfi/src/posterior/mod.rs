//! The posterior: signed value, clipped density, moments, marginals, mode, predictive, and what it says about itself.

/// Posterior draws by slice sampling, and the evidence by importance sampling from them.
pub mod chained;
/// The clipped density as weighted points.
pub mod clipped;
mod density;
/// Independent draws of the positive part.
pub mod independent;
/// The marginal of one parameter, prepared for many questions.
pub mod marginals;
/// The most probable parameters.
pub mod mode;
/// Means and covariances in the user's units.
pub mod moments;
/// How much of the surrogate posterior is negative.
pub mod negative_mass;
mod prior_draws;
mod prior_weighted;
mod proposals;
/// Means, spreads, modes and quantiles of every parameter.
pub mod summary;

use crate::chains::modes;
use crate::checks::{self, Check};
use crate::kernel::Kernel;
use crate::mixture::{SignedMixture, WeightedDraws};
use crate::model::Surrogate;
use crate::prior::LatentPrior;
use crate::simulations::prior_draws::PriorDraws;
use crate::{Error, Points, Prior};
pub use marginals::Line;

use chained::Chained;
use clipped::Clipped;
use negative_mass::NegativeMass;
use prior_weighted::prior_weighted;
use std::sync::{Arc, OnceLock};

/// How integrals over the posterior are done.
#[derive(Debug, Clone)]
pub enum Representation {
    /// Sums over a signed Gaussian mixture: exact.
    Mixture(SignedMixture),
    /// Signed weights on draws of the prior.
    Draws(WeightedDraws),
    /// Equal weights on draws of the posterior by slice sampling.
    Chained(Box<Chained>),
}

/// q(y) / exp(ln_scale), or its logarithm where it may be too large or too small for a number.
#[derive(Debug, Clone, Copy)]
enum Evidence {
    Value(f64),
    Logarithm(f64),
}

impl Evidence {
    fn ln(self) -> f64 {
        match self {
            Self::Value(value) => value.ln(),
            Self::Logarithm(ln) => ln,
        }
    }
}

/// The posterior of a surrogate likelihood at one observation (paper §3.3: the kernel means posterior).
#[derive(Debug, Clone)]
pub struct Posterior {
    surrogate: Arc<dyn Surrogate>,
    form: Representation,
    relative_evidence: Evidence,
    negative_mass: NegativeMass,
    seed: u64,
    /// Made when first asked for.
    clipped: Arc<OnceLock<Option<Clipped>>>,
}

impl Posterior {
    /// The posterior of `surrogate`; an error when its evidence is not positive. `seed` is for integrals without a closed form.
    pub fn new(surrogate: Arc<dyn Surrogate>, seed: u64) -> Result<Self, Error> {
        Self::with_progress(surrogate, seed, &mut || true)
    }

    /// [`Posterior::new`], where `go_on` is asked now and then whether to continue.
    pub fn with_progress(surrogate: Arc<dyn Surrogate>, seed: u64, go_on: &mut dyn FnMut() -> bool) -> Result<Self, Error> {
        let not_positive = |value: f64| Error::EvidenceNotPositive { value, simulations: surrogate.promising(usize::MAX).rows() };
        let (form, evidence) = match surrogate.relative_evidence() {
            Some(evidence) if evidence > 0.0 && evidence.is_finite() => match surrogate.signed_mixture() {
                Some(mixture) if !mixture.is_finite() => return Err(not_positive(evidence)),
                Some(mixture) => (Representation::Mixture(mixture), Evidence::Value(evidence)),
                None => (Representation::Draws(prior_weighted(surrogate.as_ref(), seed)?.0), Evidence::Value(evidence)),
            },
            Some(evidence) => return Err(not_positive(evidence)),
            None if matches!(surrogate.prior().latent(), LatentPrior::Draws(_)) => {
                let (draws, evidence) = prior_weighted(surrogate.as_ref(), seed)?;
                (Representation::Draws(draws), Evidence::Value(evidence))
            }
            None => {
                let chained = Chained::new(surrogate.as_ref(), seed, go_on)?;
                let evidence = chained.ln_relative_evidence();
                (Representation::Chained(Box::new(chained)), Evidence::Logarithm(evidence))
            }
        };
        let negative_mass = NegativeMass::of(surrogate.as_ref(), &form, seed);
        Ok(Self { surrogate, form, relative_evidence: evidence, negative_mass, seed, clipped: Arc::default() })
    }

    /// The surrogate likelihood it comes from.
    pub fn surrogate(&self) -> &Arc<dyn Surrogate> {
        &self.surrogate
    }

    /// The prior.
    pub fn prior(&self) -> &Prior {
        self.surrogate.prior()
    }

    /// How integrals are done.
    pub fn form(&self) -> &Representation {
        &self.form
    }

    /// ln q(y): of the location-scale model that of the observation, of the kernel means model that of an observation blurred by Gaussian
    /// noise of the tolerance ε, which is lower where ε is large beside the spread of the statistics at one θ.
    pub fn log_evidence(&self) -> f64 {
        self.relative_evidence.ln() + self.surrogate.ln_scale()
    }

    /// Standard error of [`Posterior::log_evidence`] from having these simulations and no others, and from integrating by draws.
    /// That the kernel means model has the evidence at a tolerance is no part of it.
    pub fn log_evidence_error(&self) -> f64 {
        match &self.form {
            Representation::Chained(chained) => chained.log_evidence_error(),
            _ => self.surrogate.log_evidence_error().unwrap_or(0.0),
        }
    }

    /// ∫[q]⁻ / ∫[q]⁺ with its Monte Carlo error.
    pub fn negative_mass(&self) -> NegativeMass {
        self.negative_mass
    }

    /// The clipped density as weighted points; `None` where negative parts are negligible and closed forms hold.
    pub fn clipped(&self) -> Option<&Clipped> {
        // Made without holding a lock: threads that help with it may ask the same. All make the same.
        if self.clipped.get().is_none() {
            let _ = self.clipped.set(Clipped::of(self, self.seed));
        }
        self.clipped.get().and_then(Option::as_ref)
    }

    /// Mass of a box in θ under the clipped density; infinite ends are allowed.
    pub fn box_probability(&self, low: &[f64], high: &[f64]) -> Result<f64, Error> {
        moments::box_probability(self, low, high)
    }

    /// Signed mass of a box in θ; infinite ends are allowed.
    pub fn signed_box_probability(&self, low: &[f64], high: &[f64]) -> Result<f64, Error> {
        moments::signed_box_probability(self, low, high)
    }

    /// E[θ] of the clipped density, in the user's units: always inside the prior's support.
    pub fn mean(&self) -> Vec<f64> {
        moments::mean(self)
    }

    /// Monte Carlo standard error of [`Posterior::mean`] in posterior standard deviations; 0 where it is exact.
    pub fn mean_error(&self) -> f64 {
        self.clipped().map_or(0.0, |clipped| clipped.effective.sqrt().recip())
    }

    /// Cov[θ] of the clipped density, in the user's units. What is too large for a double is the largest one.
    pub fn covariance(&self) -> Points {
        moments::covariance(self)
    }

    /// E[θ] with the signed parts included, as the paper has it: exact sums, but where q has negative parts it may lie anywhere.
    pub fn signed_mean(&self) -> Vec<f64> {
        moments::signed_mean(self)
    }

    /// Cov[θ] with the signed parts included: exact sums, but where q has negative parts a variance may be negative.
    pub fn signed_covariance(&self) -> Points {
        moments::signed_covariance(self)
    }

    /// Standard deviation of parameter `d`: from the covariance, or from quantiles where that is too large for a number.
    pub fn std(&self, d: usize) -> Result<f64, Error> {
        self.require_parameter(d)?;
        self.std_by(&self.covariance(), d)
    }

    /// [`Posterior::std`] where the covariance is known already.
    fn std_by(&self, covariance: &Points, d: usize) -> Result<f64, Error> {
        let variance = covariance.row(d)[d];
        if variance > 0.0 && variance < f64::MAX {
            return Ok(variance.sqrt());
        }
        let ends = self.quantile(d, &[0.158_655_253_931_457_05, 0.841_344_746_068_542_9])?;
        Ok(0.5 * (ends[1] - ends[0]))
    }

    /// The θ with the largest q(θ|y).
    pub fn mode(&self) -> Result<Vec<f64>, Error> {
        mode::mode(self)
    }

    /// The separate modes, the heaviest first, each with its share and its mean in the user's units; one for a posterior in one piece.
    pub fn modes(&self) -> Result<Vec<modes::Mode>, Error> {
        let z = independent::summary_draws(self)?;
        Ok(modes::modes(&z).into_iter().map(|mode| modes::Mode { centre: self.prior().from_latent(&mode.centre), ..mode }).collect())
    }

    /// ∫ ℓ(θ, θ*) q(θ|y) dθ at each θ* (paper eq. 3.7), with the model's kernel or another.
    pub fn embedding(&self, kernel: Option<&Kernel>, theta: &Points) -> Result<Vec<f64>, Error> {
        kernel.map_or(Ok(()), |kernel| kernel.require_dimension(self.prior().dimension()))?;
        Ok(self.embedding_at(kernel, &self.prior().to_latent_points(theta)?))
    }

    /// The embedding at queries in z coordinates.
    pub(crate) fn embedding_at(&self, kernel: Option<&Kernel>, z: &Points) -> Vec<f64> {
        if let Some(values) = self.surrogate.embedding(kernel, z) {
            return values;
        }
        let own = self.surrogate.herding_kernel();
        let draws = match &self.form {
            Representation::Draws(draws) => draws.clone(),
            Representation::Chained(chained) => chained.draws().clone(),
            Representation::Mixture(_) => match prior_weighted(self.surrogate.as_ref(), 0) {
                Ok((draws, _)) => draws,
                Err(_) => return vec![0.0; z.rows()],
            },
        };
        let kernel = kernel.unwrap_or(&own);
        kernel.sums(&kernel.scale(draws.z()), draws.weights(), z)
    }

    /// Posterior mean of an output recorded with every simulation, without new runs: its regression on θ, averaged over the clipped density.
    pub fn predictive(&self, recorded: &[f64]) -> Result<f64, Error> {
        self.surrogate.predictive(recorded, self.clipped().map(|clipped| &clipped.draws))
    }

    /// Checks of this posterior by itself: the surrogate's own, the negative mass, and whether there are several modes.
    /// [`crate::Fit::checks`] has all.
    pub fn checks(&self) -> Vec<Check> {
        self.checks_after(false)
    }

    /// The same, of simulations from one round or several.
    pub(crate) fn checks_after(&self, rounds: bool) -> Vec<Check> {
        let mut all = vec![checks::negative_mass(self.negative_mass.ratio)];
        let none = Points::zeros(0, self.prior().dimension());
        all.extend(self.surrogate.checks(if let Representation::Chained(chained) = &self.form { chained.draws().z() } else { &none }));
        all.extend(self.surrogate.simulated().map(|z| prior_draws::check(&PriorDraws::of(&z, self.prior()), self, rounds)));
        if let Representation::Chained(chained) = &self.form {
            all.push(checks::chains(chained.worst_r_hat(), chained.least_effective()));
        }
        all.extend(self.modes().map(|modes| modes::check(&modes, self.prior().names())));
        all
    }

    fn require_parameter(&self, d: usize) -> Result<(), Error> {
        let dimension = self.prior().dimension();
        if d < dimension { Ok(()) } else { Err(Error::invalid("index of a parameter", d as f64, format!("there are {dimension}"))) }
    }
}
