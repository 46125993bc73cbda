//! A method with the settings it has in a comparison, and how its answer becomes a point.

use anyhow::Result;
use kelfi::learning::{KernelMeansOptions, learn};
use kelfi::method::calls::{PriorSimulations, Simulator};
use kelfi::method::{Answer, Calls, Method, Task};
use kelfi::{Error, Observation, Points, Posterior, Prior, Question, Recorded};
use kelfi_baselines::kernel::kernel_bayes::KernelBayes;
use std::sync::Arc;
use std::time::Instant;

/// Samples an answer is judged by.
const SAMPLES: usize = 2_000;

/// Where its point estimate comes from.
#[derive(Clone, Copy)]
pub enum Point {
    /// The mean of its samples.
    Mean,
    /// The mode of the embedding, which the paper takes for the kernel Bayes' rule.
    ModeOf(KernelBayes),
}

/// A method in a comparison.
pub struct Contestant {
    /// Its name there.
    pub name: String,
    /// What it does.
    pub method: Box<dyn Method>,
    /// Where its point estimate comes from.
    pub point: Point,
}

impl Contestant {
    /// One that is judged by its mean.
    pub fn new(name: &str, method: impl Method + 'static) -> Self {
        Self { name: name.into(), method: Box::new(method), point: Point::Mean }
    }

    /// Every method of the catalogue with its default settings, under its own name.
    pub fn catalogue() -> impl Iterator<Item = Self> {
        kelfi_baselines::all().into_iter().map(|method| Self { name: method.name().into(), method, point: Point::Mean })
    }
}

/// What is asked: a prior, a simulator and an observation.
pub struct Asked<'a> {
    /// The prior.
    pub prior: &'a Prior,
    /// The simulator.
    pub simulator: &'a Simulator<'a>,
    /// What was observed.
    pub observation: &'a [f64],
}

/// What came of it.
pub struct Outcome {
    /// The answer.
    pub answer: Answer,
    /// Its samples.
    pub samples: Points,
    /// Its point estimate.
    pub point: Vec<f64>,
    /// Calls made.
    pub calls: usize,
    /// Seconds without the simulations.
    pub seconds: f64,
}

impl Asked<'_> {
    /// Asks a contestant. The simulations at draws of the prior are the same for all who are asked with this seed.
    pub fn of(&self, contestant: &Contestant, budget: usize, seed: u64) -> Result<Outcome> {
        let ready = PriorSimulations::new(self.prior, self.simulator, self.observation.len(), seed);
        let calls = || Calls::new(self.simulator, &ready, budget, seed);
        let own = calls()?;
        let task = |calls| Task { prior: self.prior, observation: self.observation, calls, seed, go_on: &|| true };
        let began = Instant::now();
        let answer = contestant.method.infer(&task(&own))?;
        let samples = answer.samples(SAMPLES, seed)?;
        let seconds = began.elapsed().saturating_sub(own.simulating()).as_secs_f64();
        let point = match contestant.point {
            Point::Mean => (0..samples.columns()).map(|d| samples.column(d).iter().sum::<f64>() / samples.rows() as f64).collect(),
            Point::ModeOf(rule) => rule.mode(&task(&calls()?))?,
        };
        Ok(Outcome { answer, samples, point, calls: own.made(), seconds })
    }
}

/// The paper's KELFI: isotropic ε on raw statistics, β = β₀σ, λ = 10⁻³β₀, by the largest evidence.
pub struct PaperKelfi;

impl Method for PaperKelfi {
    fn name(&self) -> &'static str {
        "kelfi-by-the-paper"
    }

    fn description(&self) -> &'static str {
        "kernel means likelihood with the paper's hyperparameters and objective"
    }

    fn reference(&self) -> &'static str {
        "Hsu & Ramos, AISTATS 2019"
    }

    fn infer(&self, task: &Task<'_>) -> Result<Answer, Error> {
        let recorded = Recorded::Statistics(Arc::new(task.calls.all_from_prior()?));
        let question = Question::new(task.prior, &recorded, &Observation::Statistics(task.observation.to_vec()));
        let (model, _) = learn(&question, &KernelMeansOptions { seed: task.seed, ..KernelMeansOptions::paper() }, &mut |_| (task.go_on)())?;
        Ok(Answer::Posterior(Box::new(Posterior::new(Arc::new(model), task.seed)?)))
    }
}
