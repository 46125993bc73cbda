//! What every benchmark problem offers: prior, simulator, observation, and what is known about the answer.

use kelfi::{Error, Points, Prior};
use rand::Rng;

/// The fixed facts of a problem.
#[derive(Debug, Clone)]
pub struct Facts {
    /// Name in the catalogue.
    pub name: &'static str,
    /// One line on what is simulated and what is asked.
    pub description: &'static str,
    /// Prior over the parameters, in the order the simulator takes them.
    pub prior: Prior,
    /// Names of the statistics, in the order the simulator gives them.
    pub statistic_names: Vec<String>,
    /// The observation y.
    pub observation: Vec<f64>,
    /// Parameters that made the observation, where there are any.
    pub truth: Option<Vec<f64>>,
}

/// A simulator with a prior, an observation, and truth or a way to the reference posterior beside it.
pub trait BenchmarkProblem: Send + Sync {
    /// The fixed facts.
    fn facts(&self) -> &Facts;

    /// One call of the simulator: statistics x ~ p(x | θ), or why there are none.
    fn simulate(&self, theta: &[f64], rng: &mut dyn Rng) -> Result<Vec<f64>, SimulationFailure>;

    /// In which form the answer is known.
    fn reference(&self) -> Reference;

    /// How many independent repeats of the same statistics an output is, repeat by repeat.
    fn repeats(&self) -> usize {
        1
    }

    /// ln p(x | θ) up to a term free of θ, where it can be computed. −∞ where x is impossible.
    /// θ and x must have the problem's own numbers of parameters and statistics.
    fn ln_likelihood(&self, theta: &[f64], x: &[f64]) -> Option<f64> {
        let _ = (theta, x);
        None
    }

    /// ln p(raw observed data | θ) up to a term free of θ, for problems whose statistics have no tractable density.
    fn ln_raw_likelihood(&self, theta: &[f64]) -> Option<f64> {
        let _ = theta;
        None
    }

    /// Independent draws from the exact p(θ | x), where [`Reference::Sampler`] says there is a sampler.
    fn reference_samples(&self, x: &[f64], count: usize, seed: u64) -> Result<Points, Error> {
        let _ = (x, count, seed);
        Err(Error::Unavailable {
            what: format!("an exact posterior sampler of {}", self.name()),
            reason: "use `ln_posterior` with quadrature or a Markov chain where `reference` names a density".into(),
        })
    }

    /// Name in the catalogue.
    fn name(&self) -> &'static str {
        self.facts().name
    }

    /// One line on what is simulated and what is asked.
    fn description(&self) -> &'static str {
        self.facts().description
    }

    /// Prior over the parameters.
    fn prior(&self) -> &Prior {
        &self.facts().prior
    }

    /// Names of the parameters.
    fn parameter_names(&self) -> &[String] {
        self.prior().names()
    }

    /// Names of the statistics.
    fn statistic_names(&self) -> &[String] {
        &self.facts().statistic_names
    }

    /// The observation y.
    fn observation(&self) -> &[f64] {
        &self.facts().observation
    }

    /// Parameters that made the observation, where there are any.
    fn truth(&self) -> Option<&[f64]> {
        self.facts().truth.as_deref()
    }

    /// ln p(x | θ) + ln p(θ), the posterior up to a constant; −∞ outside the prior's support.
    fn ln_posterior(&self, theta: &[f64], x: &[f64]) -> Option<f64> {
        with_prior(self.prior(), theta, || self.ln_likelihood(theta, x))
    }

    /// The same given the raw observed data behind the statistics.
    fn ln_raw_posterior(&self, theta: &[f64]) -> Option<f64> {
        with_prior(self.prior(), theta, || self.ln_raw_likelihood(theta))
    }
}

/// The likelihood is not asked outside the support, where its formula may not hold.
fn with_prior(prior: &Prior, theta: &[f64], ln_likelihood: impl Fn() -> Option<f64>) -> Option<f64> {
    match prior.ln_density(theta) {
        Ok(ln_prior) if ln_prior > f64::NEG_INFINITY => ln_likelihood().map(|ln_likelihood| ln_likelihood + ln_prior),
        _ => Some(f64::NEG_INFINITY),
    }
}

/// In which form the answer to a problem is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reference {
    /// `reference_samples` draws from the exact posterior and `ln_posterior` is its density up to a constant.
    Sampler,
    /// `ln_posterior` is the exact density up to a constant; with one or two parameters quadrature does the rest.
    Density,
    /// `ln_raw_posterior` is the exact posterior given the raw data; the statistics keep most of it, not all.
    RawDensity,
    /// Only the true parameters are known; the text says why.
    TruthOnly(&'static str),
    /// Real data: nobody knows. The text says how answers are judged instead.
    Unknown(&'static str),
}

/// Why a call of the simulator gave no statistics.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SimulationFailure {
    /// The run reached its cap.
    #[error("stopped at the cap of {cap} {unit}; such runs count as failures, they are not given statistics")]
    TooLong {
        /// The cap.
        cap: usize,
        /// What is counted.
        unit: &'static str,
    },
    /// A statistic is NaN or infinite.
    #[error("statistic {index} is {value}; the run counts as a failure")]
    NotFinite {
        /// Zero-based statistic.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// Parameters for which the model is not defined.
    #[error("parameter {index} = {value} is outside the model's domain; it must be {requirement}")]
    OutsideDomain {
        /// Zero-based parameter.
        index: usize,
        /// Its value.
        value: f64,
        /// What it must be.
        requirement: &'static str,
    },
    /// A parameter vector of the wrong length.
    #[error("the simulator takes {expected} parameters and was given {given}; give one value for each")]
    WrongCount {
        /// Parameters of the problem.
        expected: usize,
        /// Values given.
        given: usize,
    },
    /// The differential equation could not be solved to its tolerance.
    #[error("the solver stopped at time {time} after {steps} steps; the run counts as a failure")]
    Solver {
        /// Time reached.
        time: f64,
        /// Steps taken.
        steps: usize,
    },
}

/// θ as an array of the length the simulator takes, if every value is finite.
pub(crate) fn take<const D: usize>(theta: &[f64]) -> Result<[f64; D], SimulationFailure> {
    require_parameters(theta, D)?;
    theta.try_into().map_err(|_| SimulationFailure::WrongCount { expected: D, given: theta.len() })
}

/// A failure unless θ has `expected` values, all finite.
pub(crate) fn require_parameters(theta: &[f64], expected: usize) -> Result<(), SimulationFailure> {
    if theta.len() != expected {
        return Err(SimulationFailure::WrongCount { expected, given: theta.len() });
    }
    match theta.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(index) => Err(SimulationFailure::OutsideDomain { index, value: theta[index], requirement: "finite" }),
    }
}

/// An error unless `data` has at least `at_least` values, all finite.
pub(crate) fn require_data(what: &str, data: &[f64], at_least: usize) -> Result<(), Error> {
    if data.len() < at_least {
        return Err(Error::invalid(
            format!("length of {what}"),
            data.len() as f64,
            format!("its statistics need at least {at_least} values"),
        ));
    }
    Points::from_column(data.to_vec()).require_finite(what)
}

/// `statistics` if all are finite.
pub(crate) fn finite(statistics: Vec<f64>) -> Result<Vec<f64>, SimulationFailure> {
    match statistics.iter().position(|value| !value.is_finite()) {
        None => Ok(statistics),
        Some(index) => Err(SimulationFailure::NotFinite { index, value: statistics[index] }),
    }
}

/// θ_index if it is positive and finite.
pub(crate) fn positive(theta: &[f64], index: usize) -> Result<f64, SimulationFailure> {
    let value = theta[index];
    if value > 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err(SimulationFailure::OutsideDomain { index, value, requirement: "positive and finite" })
    }
}

/// Owned names.
pub(crate) fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// stem_1, …, stem_count.
pub(crate) fn numbered(stem: &str, count: usize) -> Vec<String> {
    (1..=count).map(|index| format!("{stem}_{index}")).collect()
}
