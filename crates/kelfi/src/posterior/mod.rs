//! The posterior: signed value, clipped density, moments, marginals, mode, predictive, and what it says about itself.

/// Posterior draws by slice sampling, and the evidence by importance sampling from them.
pub mod chained;
/// Numbers that say whether the result can be trusted.
pub mod checks;
/// One-dimensional marginals.
pub mod marginals;
/// Signed Gaussian mixtures.
pub mod mixture;
/// The most probable parameters.
pub mod mode;
/// Means and covariances in the user's units.
pub mod moments;
/// How much of the surrogate posterior is negative.
pub mod negative_mass;
/// Means, spreads, modes and quantiles of every parameter.
pub mod summary;
/// Weighted draws, for surrogates without a closed form.
pub mod weighted;

use crate::kernel::Kernel;
use crate::model::Surrogate;
use crate::prior::{Coordinate, LatentPrior};
use crate::{Error, Points, Prior};
use chained::Chained;
use checks::Check;
use marginals::ClippedMarginal;
use mixture::SignedMixture;
use negative_mass::NegativeMass;
use std::sync::Arc;
use weighted::WeightedDraws;

/// How integrals over the posterior are done.
#[derive(Debug, Clone)]
pub enum Form {
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
    form: Form,
    relative_evidence: Evidence,
    negative_mass: NegativeMass,
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
                Some(mixture) => (Form::Mixture(mixture), Evidence::Value(evidence)),
                None => (Form::Draws(WeightedDraws::new(surrogate.as_ref(), seed)?.0), Evidence::Value(evidence)),
            },
            Some(evidence) => return Err(not_positive(evidence)),
            None if matches!(surrogate.prior().latent(), LatentPrior::Draws(_)) => {
                let (draws, evidence) = WeightedDraws::new(surrogate.as_ref(), seed)?;
                (Form::Draws(draws), Evidence::Value(evidence))
            }
            None => {
                let chained = Chained::new(surrogate.as_ref(), seed, go_on)?;
                let evidence = chained.ln_relative_evidence();
                (Form::Chained(Box::new(chained)), Evidence::Logarithm(evidence))
            }
        };
        let negative_mass = NegativeMass::of(surrogate.as_ref(), &form, seed);
        Ok(Self { surrogate, form, relative_evidence: evidence, negative_mass })
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
    pub fn form(&self) -> &Form {
        &self.form
    }

    /// ln q(y).
    pub fn log_evidence(&self) -> f64 {
        self.relative_evidence.ln() + self.surrogate.ln_scale()
    }

    /// Monte Carlo standard error of [`Posterior::log_evidence`]; 0 where it is exact.
    pub fn log_evidence_error(&self) -> f64 {
        match &self.form {
            Form::Chained(chained) => chained.log_evidence_error(),
            _ => 0.0,
        }
    }

    /// ∫[q]⁻ / ∫[q]⁺ with its Monte Carlo error.
    pub fn negative_mass(&self) -> NegativeMass {
        self.negative_mass
    }

    /// q(θ|y) = q(y|θ) p(θ) / q(y) at each θ: signed.
    pub fn value(&self, theta: &Points) -> Result<Vec<f64>, Error> {
        let evidence = match self.relative_evidence {
            Evidence::Value(evidence) => evidence,
            // Positive everywhere: its own density.
            Evidence::Logarithm(_) => return Ok(self.log_prob(theta)?.into_iter().map(f64::exp).collect()),
        };
        let z = self.prior().to_latent_points(theta)?;
        let likelihood = self.surrogate.relative_values(&z);
        // Where the likelihood vanishes so does the posterior, even if the prior density is infinite there.
        let value = |theta: &[f64], q: f64| Ok(if q == 0.0 { 0.0 } else { q / evidence * self.prior().ln_density(theta)?.exp() });
        theta.iter().zip(likelihood).map(|(theta, q)| value(theta, q)).collect()
    }

    /// [q(θ|y)]⁺ / ∫[q]⁺ at each θ: a density.
    pub fn pdf(&self, theta: &Points) -> Result<Vec<f64>, Error> {
        let positive_mass = self.negative_mass.positive_mass;
        Ok(self.value(theta)?.into_iter().map(|value| value.max(0.0) / positive_mass).collect())
    }

    /// ln of [`Posterior::pdf`]; -∞ where the surrogate is not positive.
    pub fn log_prob(&self, theta: &Points) -> Result<Vec<f64>, Error> {
        let z = self.prior().to_latent_points(theta)?;
        let ln_normaliser = -self.negative_mass.positive_mass.ln() - self.relative_evidence.ln();
        let likelihood = self.surrogate.ln_relative_values(&z);
        let ln = |theta: &[f64], q: f64| {
            if q > f64::NEG_INFINITY { Ok(q + self.prior().ln_density(theta)? + ln_normaliser) } else { Ok(f64::NEG_INFINITY) }
        };
        theta.iter().zip(likelihood).map(|(theta, q)| ln(theta, q)).collect()
    }

    /// The density of parameter `d` at each value, from the positive part of its marginal.
    pub fn marginal(&self, d: usize, values: &[f64]) -> Result<Vec<f64>, Error> {
        let line = self.line(d)?;
        values.iter().map(|&value| line.density(self.prior(), value)).collect()
    }

    /// The signed density of parameters `d` and `e` (different ones) at each pair of values.
    pub fn pair_marginal(&self, d: usize, e: usize, pairs: &Points) -> Result<Vec<f64>, Error> {
        self.require_parameter(d)?;
        self.require_parameter(e)?;
        if d == e {
            return Err(Error::invalid("second parameter", e as f64, "a pair needs two different parameters"));
        }
        if pairs.columns() != 2 {
            return Err(Error::Shape {
                left: "the pairs of values".into(),
                left_rows: pairs.rows(),
                left_columns: pairs.columns(),
                right: "a pair of parameters".into(),
                right_rows: 1,
                right_columns: 2,
                advice: "give two columns".into(),
            });
        }
        pairs.require_finite("the pairs of values")?;
        moments::pair_marginal(self, d, e, pairs)
    }

    /// The share of the positive marginal of parameter `d` below each value.
    pub fn cdf(&self, d: usize, values: &[f64]) -> Result<Vec<f64>, Error> {
        let line = self.line(d)?;
        values.iter().map(|&value| line.cdf(self.prior(), value)).collect()
    }

    /// Quantiles of parameter `d`: of the positive part of its marginal, exact through the prior's monotone transform.
    pub fn quantile(&self, d: usize, probabilities: &[f64]) -> Result<Vec<f64>, Error> {
        let line = self.line(d)?;
        probabilities.iter().map(|&p| line.quantile(self.prior(), p)).collect()
    }

    /// The central interval of parameter `d` that holds this share.
    pub fn interval(&self, d: usize, share: f64) -> Result<(f64, f64), Error> {
        if !(share > 0.0 && share < 1.0) {
            return Err(Error::invalid("share of an interval", share, "it must lie between 0 and 1"));
        }
        let ends = self.quantile(d, &[0.5 * (1.0 - share), 0.5 * (1.0 + share)])?;
        Ok((ends[0], ends[1]))
    }

    /// Signed mass of a box in θ; infinite ends are allowed.
    pub fn box_probability(&self, low: &[f64], high: &[f64]) -> Result<f64, Error> {
        moments::box_probability(self, low, high)
    }

    /// E[θ] in the user's units, signed parts included: exact sums.
    pub fn mean(&self) -> Vec<f64> {
        moments::mean(self)
    }

    /// Cov[θ] in the user's units, signed parts included. What is too large for a double is the largest one.
    pub fn covariance(&self) -> Points {
        moments::covariance(self)
    }

    /// Standard deviation of parameter `d`: from the covariance, or from the positive part where signs make that one meaningless.
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
            Form::Draws(draws) => draws.clone(),
            Form::Chained(chained) => chained.draws().clone(),
            Form::Mixture(_) => match WeightedDraws::new(self.surrogate.as_ref(), 0) {
                Ok((draws, _)) => draws,
                Err(_) => return vec![0.0; z.rows()],
            },
        };
        let kernel = kernel.unwrap_or(&own);
        kernel.sums(&kernel.scale(draws.z()), draws.weights(), z)
    }

    /// Posterior mean of an output recorded with every simulation, without new runs.
    pub fn predictive(&self, recorded: &[f64]) -> Result<f64, Error> {
        let none = Points::zeros(0, self.prior().dimension());
        let draws = if let Form::Chained(chained) = &self.form { chained.draws().z() } else { &none };
        self.surrogate.predictive(recorded, draws)
    }

    /// All checks: the surrogate's own and the negative mass.
    pub fn checks(&self) -> Vec<Check> {
        let mut all = vec![checks::negative_mass(self.negative_mass.ratio)];
        all.extend(self.surrogate.checks());
        if let Form::Chained(chained) = &self.form {
            all.push(checks::chains(chained.worst_r_hat(), chained.least_effective()));
        }
        all
    }

    fn require_parameter(&self, d: usize) -> Result<(), Error> {
        let dimension = self.prior().dimension();
        if d < dimension { Ok(()) } else { Err(Error::invalid("index of a parameter", d as f64, format!("there are {dimension}"))) }
    }

    /// The clipped marginal of parameter `d`, prepared once for many questions.
    pub fn line(&self, d: usize) -> Result<Line, Error> {
        self.require_parameter(d)?;
        let coordinate = self.prior().coordinate(d);
        let distribution = match (&self.form, &coordinate) {
            (Form::Mixture(mixture), Coordinate::Monotone) => {
                let mut direction = vec![0.0; mixture.dimension()];
                direction[d] = 1.0;
                Distribution::Mixture(mixture.marginal(&direction).clip())
            }
            (Form::Mixture(mixture), Coordinate::Linear { coefficients, .. }) => {
                Distribution::Mixture(mixture.marginal(coefficients).clip())
            }
            (Form::Draws(draws), _) => Distribution::Draws(draws.line(self.prior(), d)),
            (Form::Chained(chained), _) => Distribution::Draws(chained.draws().line(self.prior(), d)),
        };
        Ok(Line { d, coordinate, distribution })
    }
}

/// The marginal of one parameter, prepared for densities, shares and quantiles.
#[derive(Debug, Clone)]
pub struct Line {
    d: usize,
    coordinate: Coordinate,
    distribution: Distribution,
}

#[derive(Debug, Clone)]
enum Distribution {
    Mixture(ClippedMarginal),
    Draws(weighted::WeightedLine),
}

impl Line {
    /// The value of the parameter below which a share `p` lies.
    pub fn quantile(&self, prior: &Prior, p: f64) -> Result<f64, Error> {
        match &self.distribution {
            Distribution::Mixture(marginal) => Ok(self.to_theta(prior, marginal.quantile(p)?)),
            Distribution::Draws(line) => line.quantile(p),
        }
    }

    /// The share below a value of the parameter.
    pub fn cdf(&self, prior: &Prior, value: f64) -> Result<f64, Error> {
        match &self.distribution {
            Distribution::Mixture(marginal) => Ok(marginal.cdf(self.to_line(prior, value)?.0)),
            Distribution::Draws(line) => Ok(line.cdf(value)),
        }
    }

    /// The density at a value of the parameter.
    pub fn density(&self, prior: &Prior, value: f64) -> Result<f64, Error> {
        match &self.distribution {
            Distribution::Mixture(marginal) => {
                let (t, slope) = self.to_line(prior, value)?;
                Ok(if slope == 0.0 { 0.0 } else { marginal.density(t) * slope })
            }
            Distribution::Draws(line) => Ok(line.density(value)),
        }
    }

    /// Mean and standard deviation of the parameter.
    pub fn moments(&self, prior: &Prior) -> (f64, f64) {
        let expectation = |f: &dyn Fn(f64) -> f64| match &self.distribution {
            Distribution::Mixture(marginal) => marginal.expectation(|t| f(self.to_theta(prior, t))),
            Distribution::Draws(line) => line.expectation(f),
        };
        let mean = expectation(&|theta| theta);
        (mean, expectation(&|theta| (theta - mean).powi(2)).sqrt())
    }

    fn to_theta(&self, prior: &Prior, t: f64) -> f64 {
        match &self.coordinate {
            Coordinate::Linear { offset, .. } => offset + t,
            Coordinate::Monotone => prior.coordinate_from_latent(self.d, t),
        }
    }

    /// Position on the line and dt/dθ there; outside the support the slope is 0.
    fn to_line(&self, prior: &Prior, value: f64) -> Result<(f64, f64), Error> {
        Error::require_finite("value of a parameter", value)?;
        match &self.coordinate {
            Coordinate::Linear { offset, .. } => Ok((value - offset, 1.0)),
            Coordinate::Monotone => prior.coordinate_to_latent(self.d, value),
        }
    }
}
