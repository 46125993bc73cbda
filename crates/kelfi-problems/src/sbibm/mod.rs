//! The eight tasks of the sbibm benchmark (Lueckmann, Boelts, Greenberg, Gonçalves & Macke, AISTATS 2021, arXiv:2101.04653).
//!
//! The official observations and reference samples are not part of this crate: pass an observation to [`task`]. Without one,
//! the observation is simulated with a fixed seed from a prior draw, and is not one of the official ten.

mod bernoulli_glm;
mod gaussian;
mod lotka_volterra;
mod mixture;
mod rejection;
mod sir;
mod slcp;
mod two_moons;

use crate::catalogue::UnknownProblem;
use crate::problem::{BenchmarkProblem, Facts, Reference, SimulationFailure};
use kelfi::random::{Purpose, stream};
use kelfi::{Error, Points, Prior};
use rand::Rng;

/// Seed of the observations that stand in for the official ones.
const SEED: u64 = 2021;

/// What sets one task apart from another.
trait Model: Send + Sync {
    fn prior(&self) -> Prior;
    fn statistic_names(&self) -> Vec<String>;
    fn simulate(&self, theta: &[f64], rng: &mut dyn Rng) -> Result<Vec<f64>, SimulationFailure>;
    fn ln_likelihood(&self, theta: &[f64], x: &[f64]) -> f64;
    /// How many independent repeats of the same statistics an output is.
    fn repeats(&self) -> usize {
        1
    }
    /// One attempt at an exact posterior draw given x; `None` if the attempt is rejected.
    /// Tasks without an exact sampler have no such closure.
    fn sampler<'a>(&'a self, _x: &'a [f64]) -> Option<rejection::Attempt<'a>> {
        None
    }
}

/// A task of the benchmark.
pub struct Sbibm {
    facts: Facts,
    model: Box<dyn Model>,
}

/// (name in sbibm, name in our catalogue, description) of the eight tasks, in the benchmark's order.
const TASKS: [(&str, &str, &str); 8] = [
    ("gaussian_linear", "sbibm_gaussian_linear", "mean of a 10-dimensional Gaussian under a Gaussian prior"),
    ("gaussian_linear_uniform", "sbibm_gaussian_linear_uniform", "mean of a 10-dimensional Gaussian under a uniform prior"),
    ("gaussian_mixture", "sbibm_gaussian_mixture", "common mean of a wide and a narrow Gaussian in the plane"),
    ("two_moons", "sbibm_two_moons", "two crescents: global bimodality and fine local structure"),
    ("slcp", "sbibm_slcp", "simple likelihood, complex posterior: mean and covariance of four planar points, four modes"),
    ("bernoulli_glm", "sbibm_bernoulli_glm", "offset and filter of a neuron's spikes, ten sufficient statistics"),
    ("sir", "sbibm_sir", "contact and recovery rates of an epidemic from ten noisy prevalence counts"),
    ("lotka_volterra", "sbibm_lotka_volterra", "predator-prey rates from twenty noisy values of a differential equation"),
];

/// The task with this name in sbibm (`two_moons`, …), with an official observation or another; without one, a simulated stand-in.
pub fn task(name: &str, observation: Option<Vec<f64>>) -> Result<Sbibm, TaskError> {
    let Some(&(_, catalogue_name, description)) = TASKS.iter().find(|task| task.0 == name) else {
        return Err(UnknownProblem::new(name, &task_names().collect::<Vec<_>>()).into());
    };
    Ok(Sbibm::new(catalogue_name, description, model(catalogue_name), observation)?)
}

/// Names of the tasks in sbibm.
pub fn task_names() -> impl Iterator<Item = &'static str> {
    TASKS.iter().map(|task| task.0)
}

/// Why there is no such task.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TaskError {
    /// The name is not one of the eight.
    #[error(transparent)]
    Unknown(#[from] UnknownProblem),
    /// The observation does not fit the task.
    #[error(transparent)]
    Observation(#[from] Error),
}

fn model(catalogue_name: &str) -> Box<dyn Model> {
    match catalogue_name {
        "sbibm_gaussian_linear" => Box::new(gaussian::Linear),
        "sbibm_gaussian_linear_uniform" => Box::new(gaussian::Uniform),
        "sbibm_gaussian_mixture" => Box::new(mixture::Mixture),
        "sbibm_two_moons" => Box::new(two_moons::TwoMoons),
        "sbibm_slcp" => Box::new(slcp::Slcp),
        "sbibm_bernoulli_glm" => Box::new(bernoulli_glm::BernoulliGlm::new()),
        "sbibm_sir" => Box::new(sir::Sir),
        _ => Box::new(lotka_volterra::LotkaVolterra),
    }
}

/// The eight tasks with their stand-in observations.
pub(crate) fn all() -> impl Iterator<Item = Sbibm> {
    TASKS.iter().map(|&(_, name, description)| {
        Sbibm::new(name, description, model(name), None).expect("the stand-in observation has the model's own length")
    })
}

impl Sbibm {
    fn new(name: &'static str, description: &'static str, model: Box<dyn Model>, observation: Option<Vec<f64>>) -> Result<Self, Error> {
        let (prior, statistic_names) = (model.prior(), model.statistic_names());
        let (observation, truth) = match observation {
            Some(observation) => (observation, None),
            None => stand_in(&*model, &prior)?,
        };
        let table = Points::new(observation.clone(), 1, observation.len())?;
        if table.columns() != statistic_names.len() {
            return Err(Error::Shape {
                left: "the observation".into(),
                left_rows: 1,
                left_columns: table.columns(),
                right: format!("an observation of {name}"),
                right_rows: 1,
                right_columns: statistic_names.len(),
                advice: "give one value for each statistic".into(),
            });
        }
        table.require_finite("the observation")?;
        Ok(Self { facts: Facts { name, description, prior, statistic_names, observation, truth }, model })
    }

    /// The same task with the parameters that made its observation.
    pub fn with_truth(mut self, truth: Vec<f64>) -> Self {
        self.facts.truth = Some(truth);
        self
    }
}

/// The first prior draw of the fixed seed whose call succeeds, and its statistics.
fn stand_in(model: &dyn Model, prior: &Prior) -> Result<(Vec<f64>, Option<Vec<f64>>), Error> {
    const ATTEMPTS: usize = 100;
    for (attempt, theta) in prior.draw(ATTEMPTS, SEED).iter().enumerate() {
        if let Ok(x) = model.simulate(theta, &mut stream(SEED, Purpose::Experiment, attempt as u64)) {
            return Ok((x, Some(theta.to_vec())));
        }
    }
    Err(Error::AllFailed { count: ATTEMPTS })
}

impl BenchmarkProblem for Sbibm {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn simulate(&self, theta: &[f64], rng: &mut dyn Rng) -> Result<Vec<f64>, SimulationFailure> {
        self.model.simulate(theta, rng)
    }

    fn repeats(&self) -> usize {
        self.model.repeats()
    }

    fn reference(&self) -> Reference {
        if self.model.sampler(self.observation()).is_some() { Reference::Sampler } else { Reference::Density }
    }

    fn ln_likelihood(&self, theta: &[f64], x: &[f64]) -> Option<f64> {
        Some(self.model.ln_likelihood(theta, x))
    }

    fn reference_samples(&self, x: &[f64], count: usize, seed: u64) -> Result<Points, Error> {
        match self.model.sampler(x) {
            Some(attempt) => rejection::sample(&attempt, count, seed),
            None => Err(Error::Unavailable {
                what: format!("an exact posterior sampler of {}", self.name()),
                reason: "use `ln_posterior`, or the benchmark's own reference samples for its own observations".into(),
            }),
        }
    }
}
